-- Saved views are of the list of jobs or of the analytics; a name is there once for each of them.
CREATE TABLE views_of_pages (
    id         TEXT   NOT NULL PRIMARY KEY,
    project    TEXT   NOT NULL,
    owner_id   TEXT   NOT NULL REFERENCES users (id),
    -- 'jobs' or 'analytics'.
    page       TEXT   NOT NULL,
    name       TEXT   NOT NULL,
    query      TEXT   NOT NULL,
    shared     BIGINT NOT NULL DEFAULT 0,
    created_at BIGINT NOT NULL,
    UNIQUE (project, owner_id, page, name)
);
INSERT INTO views_of_pages (id, project, owner_id, page, name, query, shared, created_at)
SELECT id, project, owner_id, 'jobs', name, query, shared, created_at FROM saved_views;
DROP TABLE saved_views;
ALTER TABLE views_of_pages RENAME TO saved_views;
