-- When a person last opened the notifications of a project: what changed since is new to them. Of their own jobs (0) or everyone's (1).
CREATE TABLE looked_at (
    user_id  TEXT   NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    project  TEXT   NOT NULL,
    everyone BIGINT NOT NULL,
    at       BIGINT NOT NULL,
    PRIMARY KEY (user_id, project, everyone)
);
