-- Prompts that wait in line, decisions about unknown deliveries, and batches.

-- 0: sent as soon as nothing is before it in its job; 1: waits in line, which moves one at a time and evenly.
ALTER TABLE messages ADD COLUMN in_line BIGINT NOT NULL DEFAULT 0;
-- The place among what waits; smaller goes first.
ALTER TABLE messages ADD COLUMN rank BIGINT NOT NULL DEFAULT 0;
-- How often a person had it sent again: a decision names the attempt it is about, and counts once.
ALTER TABLE messages ADD COLUMN attempt BIGINT NOT NULL DEFAULT 0;

-- When the line of a limit may move again. Written with each prompt that leaves it.
CREATE TABLE line_pauses (
    scope   TEXT   NOT NULL PRIMARY KEY,
    ends_at BIGINT NOT NULL
);

-- One text with places and a list of values: many jobs. Nothing is queued before it was started.
CREATE TABLE batches (
    id         TEXT   NOT NULL PRIMARY KEY,
    project    TEXT   NOT NULL,
    author_id  TEXT   NOT NULL REFERENCES users (id),
    intent     TEXT   NOT NULL,
    template   TEXT   NOT NULL,
    list       TEXT   NOT NULL,
    created_at BIGINT NOT NULL,
    started_at BIGINT,
    UNIQUE (author_id, intent)
);
ALTER TABLE jobs ADD COLUMN batch_id TEXT REFERENCES batches (id);
CREATE INDEX jobs_of_batch ON jobs (batch_id) WHERE batch_id IS NOT NULL;
