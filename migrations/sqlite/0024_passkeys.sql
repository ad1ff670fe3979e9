-- Passkeys: public keys of people's authenticators, which sign them in alone or after the password.

CREATE TABLE passkeys (
    id            TEXT   NOT NULL PRIMARY KEY,
    user_id       TEXT   NOT NULL REFERENCES users (id),
    -- What authenticators call it, base64url: of one person only.
    credential_id TEXT   NOT NULL UNIQUE,
    -- What its person calls it.
    name          TEXT   NOT NULL,
    -- The public key and what else verifying needs, in JSON.
    credential    TEXT   NOT NULL,
    -- How many signatures its authenticator had made at the last use; 0 where it does not count.
    sign_count    BIGINT NOT NULL,
    created_at    BIGINT NOT NULL,
    last_used_at  BIGINT
);
CREATE INDEX passkeys_of_person ON passkeys (user_id, created_at);

-- Challenges whose answer is still to come, by the hash of the browser's token. Taking one removes it, so that each is answered once.
CREATE TABLE passkey_challenges (
    token_hash TEXT   NOT NULL PRIMARY KEY,
    -- Who may have so many at once: a person, or a network of people who are not signed in.
    asker      TEXT   NOT NULL,
    -- What it is for, and what verifying the answer needs, in JSON.
    state      TEXT   NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX passkey_challenges_of_asker ON passkey_challenges (asker, expires_at);
CREATE INDEX passkey_challenges_by_age ON passkey_challenges (expires_at);
