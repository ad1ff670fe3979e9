-- All rows of a day in one piece, written with them: a range is added up from one row a day. A piece is as good as its
-- digest: where that is not the day's, the rows themselves are added up.
CREATE TABLE day_rollups (
    project TEXT NOT NULL,
    day     TEXT NOT NULL,
    digest  TEXT NOT NULL,
    -- As store::rollups packs them.
    pages   BLOB NOT NULL,
    PRIMARY KEY (project, day)
);
