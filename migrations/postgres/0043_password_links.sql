-- Links with which people set a new password. An administrator makes one; it is valid once, and expires.
CREATE TABLE password_links (
    user_id    TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    token_hash TEXT COLLATE "C" NOT NULL UNIQUE,
    expires_at BIGINT NOT NULL,
    -- The id of the administrator.
    made_by    TEXT COLLATE "C" NOT NULL
);
CREATE FUNCTION password_link_ends_with_password() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN
    DELETE FROM password_links WHERE user_id = NEW.id;
    RETURN NULL;
END $$;
CREATE TRIGGER password_link_ends_with_password AFTER UPDATE OF password_hash ON users FOR EACH ROW
EXECUTE FUNCTION password_link_ends_with_password();
