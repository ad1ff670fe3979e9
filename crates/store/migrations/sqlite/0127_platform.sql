-- What administrators are told once about the platform: that the AI credits of a project are used up, or that its limit may be one for job starts and
-- follow-ups together. And when a person last read it. Then the projects whose changes the platform publishes without pull requests, as configured.
-- Tables: none

CREATE TABLE platform_notices (
    project TEXT   NOT NULL,
    kind    TEXT   NOT NULL CHECK (kind IN ('no_credits', 'shared_limit')),
    since   BIGINT NOT NULL,
    PRIMARY KEY (project, kind)
);

ALTER TABLE users ADD COLUMN platform_notices_seen_at BIGINT NOT NULL DEFAULT 0;

CREATE TABLE direct_projects (
    project      TEXT   NOT NULL PRIMARY KEY,
    is_direct    BIGINT NOT NULL,
    -- 0: jobs of the project may still need attention, or not, because of the former setting.
    is_refreshed BIGINT NOT NULL
);
