-- Limits of sign-in attempts, for all processes. A cell is one of a fixed number for each kind of limit.
CREATE TABLE rate_limits (
    cell       TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    -- Until when the attempts so far use the limit up, one after another.
    used_until BIGINT NOT NULL
);

-- From where people signed in lately, by hashes.
CREATE TABLE known_addresses (
    pair    TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    seen_at BIGINT NOT NULL
);
CREATE INDEX known_addresses_by_age ON known_addresses (seen_at);

-- What the hashes are made with, so that nobody can choose whom to share a cell with.
CREATE TABLE shared_secrets (
    name   TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    secret TEXT COLLATE "C" NOT NULL
);
