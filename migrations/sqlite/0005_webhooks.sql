-- Outgoing webhooks: where it is told that a project's jobs come to rest, and how each telling went.

-- When the upstream first said that it does not know a job; null once it knows it.
ALTER TABLE jobs ADD COLUMN missing_since BIGINT;
-- When a job was last read.
ALTER TABLE jobs ADD COLUMN read_at BIGINT;

CREATE TABLE webhooks (
    id          TEXT   NOT NULL PRIMARY KEY,
    project     TEXT   NOT NULL,
    kind        TEXT   NOT NULL,
    address     TEXT   NOT NULL,
    -- What JSON is signed with; empty for other kinds.
    secret      TEXT   NOT NULL,
    created_at  BIGINT NOT NULL,
    disabled_at BIGINT
);
CREATE INDEX webhooks_of_project ON webhooks (project);

-- An event for one webhook: committed together with what it tells of, delivered later, at least once.
CREATE TABLE webhook_deliveries (
    id          TEXT   NOT NULL PRIMARY KEY,
    webhook_id  TEXT   NOT NULL REFERENCES webhooks (id),
    event       TEXT   NOT NULL,
    at          BIGINT NOT NULL,
    -- The job as it was then; null in a test.
    job_id      TEXT   REFERENCES jobs (id),
    title       TEXT,
    author      TEXT,
    job_state   TEXT,
    pr_link     TEXT,
    outcome     TEXT   NOT NULL,
    attempts    BIGINT NOT NULL,
    tried_at    BIGINT,
    -- What the receiver last answered: its status, and its words or why there were none.
    status      BIGINT,
    note        TEXT,
    -- When to try next; null once that is over.
    next_try_at BIGINT
);
CREATE INDEX webhook_deliveries_of_webhook ON webhook_deliveries (webhook_id, id);
CREATE INDEX webhook_deliveries_to_try ON webhook_deliveries (next_try_at) WHERE next_try_at IS NOT NULL;
