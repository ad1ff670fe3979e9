-- What an audit event that was only counted is about: its project, and the address it came from.

CREATE TABLE audit_counts_by_place (
    actor_id TEXT   NOT NULL,
    actor    TEXT   NOT NULL,
    action   TEXT   NOT NULL,
    outcome  TEXT   NOT NULL,
    -- Empty where there is none.
    project  TEXT   NOT NULL,
    -- Empty for addresses that were too many to be counted one by one.
    address  TEXT   NOT NULL,
    since    BIGINT NOT NULL,
    count    BIGINT NOT NULL,
    PRIMARY KEY (actor_id, action, outcome, project, address)
);
INSERT INTO audit_counts_by_place (actor_id, actor, action, outcome, project, address, since, count)
    SELECT actor_id, actor, action, outcome, '', '', since, count FROM audit_counts;
DROP TABLE audit_counts;
ALTER TABLE audit_counts_by_place RENAME TO audit_counts;
