-- The ledger: people, their sessions, and every job with every word sent and every state seen.
-- Instants are milliseconds since 1970 in UTC, days are texts, states are the words of the wire.

CREATE TABLE users (
    id            TEXT   NOT NULL PRIMARY KEY,
    name          TEXT   NOT NULL UNIQUE,
    role          TEXT   NOT NULL,
    password_hash TEXT   NOT NULL,
    created_at    BIGINT NOT NULL,
    disabled_at   BIGINT
);

-- Only hashes of session ids: a copy of the database opens no session.
CREATE TABLE sessions (
    id_hash    TEXT   NOT NULL PRIMARY KEY,
    data       TEXT   NOT NULL,
    expires_at BIGINT NOT NULL
);

-- One-time links that create the first administrator, by the hash of their token.
CREATE TABLE setup_links (
    token_hash TEXT   NOT NULL PRIMARY KEY,
    expires_at BIGINT NOT NULL
);

CREATE TABLE jobs (
    id                 TEXT   NOT NULL PRIMARY KEY,
    project            TEXT   NOT NULL,
    state              TEXT   NOT NULL,
    reason             TEXT,
    created_at         BIGINT NOT NULL,
    changed_at         BIGINT NOT NULL,
    -- What the upstream last said; null until it accepted the job.
    remote_id          TEXT,
    remote_status      TEXT,
    model              TEXT,
    repository         TEXT,
    git_ref            TEXT,
    pr_link            TEXT,
    remote_created_at  BIGINT,
    remote_archived_at BIGINT,
    -- When to read the job next; null: not until something is sent.
    next_read_at       BIGINT,
    -- Since when it is being followed, for the backoff.
    followed_since     BIGINT,
    -- Counts deliveries, so that a read begun before one cannot overwrite what came of it.
    revision           BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX jobs_of_project ON jobs (project, id);
CREATE INDEX jobs_by_state ON jobs (project, state, id);
CREATE INDEX jobs_to_read ON jobs (next_read_at) WHERE next_read_at IS NOT NULL;
CREATE UNIQUE INDEX jobs_by_remote_id ON jobs (project, remote_id) WHERE remote_id IS NOT NULL;

-- A prompt and its delivery: position 0 starts the job, the others follow up.
-- A row is an intent: committed before a byte is sent, claimed by exactly one sender.
CREATE TABLE messages (
    id         TEXT   NOT NULL PRIMARY KEY,
    job_id     TEXT   NOT NULL REFERENCES jobs (id),
    position   BIGINT NOT NULL,
    author_id  TEXT   NOT NULL REFERENCES users (id),
    intent     TEXT   NOT NULL,
    prompt     TEXT   NOT NULL,
    state      TEXT   NOT NULL,
    reason     TEXT,
    created_at BIGINT NOT NULL,
    -- When a queued message may be sent.
    due_at     BIGINT NOT NULL,
    sent_at    BIGINT,
    settled_at BIGINT,
    UNIQUE (job_id, position),
    UNIQUE (author_id, intent)
);
CREATE INDEX messages_in_delivery ON messages (state, due_at) WHERE state IN ('queued', 'sending');

CREATE TABLE job_events (
    id       TEXT   NOT NULL PRIMARY KEY,
    job_id   TEXT   NOT NULL REFERENCES jobs (id),
    position BIGINT NOT NULL,
    at       BIGINT NOT NULL,
    state    TEXT   NOT NULL,
    detail   TEXT
);
CREATE INDEX job_events_of_job ON job_events (job_id, id);

CREATE TABLE job_paths (
    job_id TEXT NOT NULL REFERENCES jobs (id),
    path   TEXT NOT NULL,
    PRIMARY KEY (job_id, path)
);

-- Text that a form could not deliver. The subject is a job's id, or empty for a new job.
CREATE TABLE drafts (
    user_id    TEXT   NOT NULL REFERENCES users (id),
    project    TEXT   NOT NULL,
    subject    TEXT   NOT NULL,
    text       TEXT   NOT NULL,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (user_id, project, subject)
);

-- Every upstream call that costs budget, for the rolling hour.
CREATE TABLE upstream_calls (
    id    TEXT   NOT NULL PRIMARY KEY,
    scope TEXT   NOT NULL,
    at    BIGINT NOT NULL
);
CREATE INDEX upstream_calls_in_scope ON upstream_calls (scope, at);
