-- Who did what, when, from where and with what outcome. Rows are only added, each under the hash of the one before
-- (docs/adr/0018-an-audit-log-that-shows-edits.md). Never what people wrote, and no secret.

CREATE TABLE audit (
    -- 1, 2, 3 and so on, without a gap.
    number   BIGINT NOT NULL PRIMARY KEY,
    at       BIGINT NOT NULL,
    -- Empty where it was nobody with an account.
    actor_id TEXT   NOT NULL,
    -- The name they had then.
    actor    TEXT   NOT NULL,
    -- Empty where it did not come over the network.
    address  TEXT   NOT NULL,
    action   TEXT   NOT NULL,
    outcome  TEXT   NOT NULL,
    -- Empty where it was about no project.
    project  TEXT   NOT NULL,
    -- What it was done to: the id of a job, a person's name, …
    subject  TEXT   NOT NULL,
    detail   TEXT   NOT NULL,
    -- The hash of the row before, and the one over this row and that. Unique, so that the chain cannot fork.
    previous TEXT   NOT NULL UNIQUE,
    hash     TEXT   NOT NULL UNIQUE
);
CREATE INDEX audit_of_actor ON audit (actor, number);
CREATE INDEX audit_of_action ON audit (action, actor_id, at);

-- Where the rows end: the last one, and the last one that retention removed.
CREATE TABLE audit_ends (
    name   TEXT   NOT NULL PRIMARY KEY,
    number BIGINT NOT NULL,
    hash   TEXT   NOT NULL
);
INSERT INTO audit_ends (name, number, hash) VALUES
    ('removed', 0, '0000000000000000000000000000000000000000000000000000000000000000'),
    ('last', 0, '0000000000000000000000000000000000000000000000000000000000000000');

-- What came so often that it is only counted, until the count becomes a row.
CREATE TABLE audit_counts (
    actor_id TEXT   NOT NULL,
    actor    TEXT   NOT NULL,
    action   TEXT   NOT NULL,
    outcome  TEXT   NOT NULL,
    since    BIGINT NOT NULL,
    count    BIGINT NOT NULL,
    PRIMARY KEY (actor_id, action, outcome)
);

CREATE TRIGGER audit_rows_stay_as_they_are BEFORE UPDATE ON audit
BEGIN
    SELECT RAISE(ABORT, 'the audit log cannot be changed');
END;

CREATE TRIGGER audit_rows_are_removed_by_retention_only BEFORE DELETE ON audit
WHEN NOT EXISTS (SELECT 1 FROM audit_ends WHERE name = 'removed' AND number >= OLD.number)
BEGIN
    SELECT RAISE(ABORT, 'the audit log is only shortened by retention');
END;

CREATE TRIGGER audit_rows_follow_the_last_one BEFORE INSERT ON audit
WHEN NOT EXISTS (
    SELECT 1 FROM audit_ends WHERE name = 'last' AND number = NEW.number - 1 AND hash = NEW.previous)
BEGIN
    SELECT RAISE(ABORT, 'a row of the audit log follows the last one');
END;

-- An end only moves on, and only to a row that is there.
CREATE TRIGGER audit_ends_move_along_rows BEFORE UPDATE ON audit_ends
WHEN NEW.name <> OLD.name OR NEW.number < OLD.number
    OR (NEW.number = OLD.number AND NEW.hash <> OLD.hash)
    OR (NEW.number > OLD.number
        AND NOT EXISTS (SELECT 1 FROM audit WHERE number = NEW.number AND hash = NEW.hash))
BEGIN
    SELECT RAISE(ABORT, 'the ends of the audit log only move along its rows');
END;

CREATE TRIGGER audit_ends_stay BEFORE DELETE ON audit_ends
BEGIN
    SELECT RAISE(ABORT, 'the ends of the audit log stay');
END;

CREATE TRIGGER audit_ends_are_two BEFORE INSERT ON audit_ends
BEGIN
    SELECT RAISE(ABORT, 'the audit log has two ends');
END;
