-- The outcomes of plain forms, until their browsers ask for the next page. Encrypted with a key that only the browser has.
CREATE TABLE flash_messages (
    id_hash    TEXT   NOT NULL PRIMARY KEY,
    -- A person or a session; '' for people who are not signed in.
    owner      TEXT   NOT NULL,
    sealed     BLOB   NOT NULL,
    bytes      BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX flash_messages_by_end ON flash_messages (expires_at);
