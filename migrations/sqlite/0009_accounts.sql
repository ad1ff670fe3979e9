-- What a person may see, when they were last here, and where they are signed in.

-- Ids of projects, separated by commas; without: every project.
ALTER TABLE users ADD COLUMN projects TEXT;
ALTER TABLE users ADD COLUMN last_seen_at BIGINT;
-- Renewed by whatever ends all sessions of a person; a session under another one is none.
ALTER TABLE users ADD COLUMN session_stamp TEXT NOT NULL DEFAULT '';

-- Sessions say whose they are and when they were used. Those from before this do not, and are over.
DROP TABLE sessions;
CREATE TABLE sessions (
    id_hash      TEXT   NOT NULL PRIMARY KEY,
    data         TEXT   NOT NULL,
    -- Nobody's until somebody signs in.
    user_id      TEXT,
    device       TEXT   NOT NULL DEFAULT '',
    address      TEXT   NOT NULL DEFAULT '',
    created_at   BIGINT NOT NULL,
    last_used_at BIGINT NOT NULL,
    expires_at   BIGINT NOT NULL
);
CREATE INDEX sessions_of_person ON sessions (user_id);

CREATE TRIGGER sessions_end_with_stamp AFTER UPDATE OF session_stamp ON users BEGIN
    DELETE FROM sessions WHERE user_id = NEW.id;
END;

-- One-time links at which people who were invited choose a password, by the hash of their token. A person with one has not come yet.
CREATE TABLE invitations (
    user_id    TEXT   NOT NULL PRIMARY KEY,
    token_hash TEXT   NOT NULL UNIQUE,
    expires_at BIGINT NOT NULL
);

-- Who has a password has come.
CREATE TRIGGER invitation_ends_with_password AFTER UPDATE OF password_hash ON users BEGIN
    DELETE FROM invitations WHERE user_id = NEW.id;
END;
