-- What else shows who a person is: a second factor beside the password, or somebody who vouches for them.

-- Shared secrets as they are: codes are computed from them. One that is not confirmed guards nothing yet.
CREATE TABLE second_factors (
    user_id      TEXT   NOT NULL PRIMARY KEY REFERENCES users (id),
    secret       TEXT   NOT NULL,
    created_at   BIGINT NOT NULL,
    confirmed_at BIGINT,
    -- The time step of the last code that was good: neither it nor an earlier one is good again.
    last_step    BIGINT NOT NULL
);

-- By their hash, each good once.
CREATE TABLE recovery_codes (
    user_id   TEXT NOT NULL REFERENCES users (id),
    code_hash TEXT NOT NULL,
    PRIMARY KEY (user_id, code_hash)
);

-- Sign-ins whose password was right and whose second factor is still to come, by the hash of the browser's token.
CREATE TABLE sign_in_steps (
    token_hash    TEXT   NOT NULL PRIMARY KEY,
    user_id       TEXT   NOT NULL REFERENCES users (id),
    session_stamp TEXT   NOT NULL,
    next          TEXT   NOT NULL,
    tries         BIGINT NOT NULL,
    expires_at    BIGINT NOT NULL
);

-- People whom an OpenID Connect provider vouches for. The two together are who they are; names only describe.
CREATE TABLE identities (
    issuer  TEXT NOT NULL,
    subject TEXT NOT NULL,
    user_id TEXT NOT NULL UNIQUE REFERENCES users (id),
    PRIMARY KEY (issuer, subject)
);
