-- What every process on the database must know of the platform: which calls are held back because it keeps failing or refused the
-- key, and how the last calls went.
CREATE TABLE upstream_circuits (
    circuit  TEXT COLLATE "C"   NOT NULL PRIMARY KEY,
    -- In a row.
    failures BIGINT NOT NULL,
    -- When it opened, or when the last probe was let through; NULL: it is closed.
    tried_at BIGINT
);

CREATE TABLE upstream_outcomes (
    operation    TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    succeeded_at BIGINT,
    failed_at    BIGINT,
    failure      TEXT COLLATE "C"
);
