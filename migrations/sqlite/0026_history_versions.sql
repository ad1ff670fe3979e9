-- A day is written beside the one that is read, in small steps, and takes its place in one short transaction.

-- The rows of a day are those of the version that `history_days` names; the others are being written or removed. The paths have no
-- foreign key: to remove one would mean to look through all rows.
CREATE TABLE views_by_version (
    project TEXT   NOT NULL,
    day     TEXT   NOT NULL,
    -- 0 or 1, by turns.
    version BIGINT NOT NULL DEFAULT 0,
    path_id BIGINT NOT NULL,
    human   BIGINT NOT NULL,
    ai      BIGINT NOT NULL,
    total   BIGINT NOT NULL,
    PRIMARY KEY (project, day, version, path_id)
) WITHOUT ROWID;
INSERT INTO views_by_version (project, day, version, path_id, human, ai, total)
SELECT project, day, 0, path_id, human, ai, total FROM daily_views;
ALTER TABLE history_days ADD COLUMN version BIGINT NOT NULL DEFAULT 0;

-- The newest day with a row of the path: what a range reads, and what is removed with its days. Unknown is the last day of all.
ALTER TABLE page_paths ADD COLUMN seen_on TEXT NOT NULL DEFAULT '9999-12-31';
UPDATE page_paths SET seen_on = COALESCE(
    (SELECT seen.day FROM (SELECT path_id, MAX(day) AS day FROM daily_views GROUP BY path_id) seen
     WHERE seen.path_id = page_paths.id), '0001-01-01');
CREATE INDEX page_paths_seen ON page_paths (project, seen_on);

DROP TABLE daily_views;
ALTER TABLE views_by_version RENAME TO daily_views;
