-- Empty responses became final days without views, and a day that always failed delayed the others.
-- Tables: none

-- On how many days in a row the platform returned no views for this day, and the last of them.
ALTER TABLE history_days ADD COLUMN empty_fetches BIGINT NOT NULL DEFAULT 0;
ALTER TABLE history_days ADD COLUMN empty_on TEXT COLLATE "C";

-- The days that could not be fetched or written since their last success.
CREATE TABLE failing_days (
    project     TEXT COLLATE "C" NOT NULL,
    day         TEXT COLLATE "C" NOT NULL,
    failures    BIGINT NOT NULL,
    -- Why the last attempt failed.
    cause       TEXT COLLATE "C" NOT NULL,
    next_try_at BIGINT NOT NULL,
    PRIMARY KEY (project, day)
);
