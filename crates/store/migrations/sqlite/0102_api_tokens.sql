-- Tokens with which scripts call the API.

CREATE TABLE api_tokens (
    id           TEXT   NOT NULL PRIMARY KEY,
    -- Its owner. A token never has more rights than the owner has now.
    user_id      TEXT   NOT NULL REFERENCES users (id),
    name         TEXT   NOT NULL,
    -- SHA-256, in base64url.
    token_hash   TEXT   NOT NULL UNIQUE,
    -- The last four characters of the token.
    last_four    TEXT   NOT NULL,
    -- Separated by commas.
    scopes       TEXT   NOT NULL,
    -- Ids separated by commas, or '*' for all projects of the owner.
    projects     TEXT   NOT NULL,
    created_at   BIGINT NOT NULL,
    expires_at   BIGINT NOT NULL,
    revoked_at   BIGINT,
    -- Written at most once an hour.
    last_used_at BIGINT,
    -- How many of the notices before its expiry the owner has seen.
    notices_seen BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX api_tokens_of_user ON api_tokens (user_id, created_at);
CREATE INDEX api_tokens_by_expiry ON api_tokens (expires_at);

-- For lists of jobs that were created in a period.
CREATE INDEX jobs_by_creation ON jobs (project, created_at);
