-- Links with which people set a new password. An administrator makes one; it is valid once, and expires.
CREATE TABLE password_links (
    user_id    TEXT   NOT NULL PRIMARY KEY,
    token_hash TEXT   NOT NULL UNIQUE,
    expires_at BIGINT NOT NULL,
    -- The id of the administrator.
    made_by    TEXT   NOT NULL
);
CREATE TRIGGER password_link_ends_with_password AFTER UPDATE OF password_hash ON users BEGIN
    DELETE FROM password_links WHERE user_id = NEW.id;
END;
