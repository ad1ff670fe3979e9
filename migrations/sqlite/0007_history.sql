-- Page views by day. A day is written whole, in one transaction; `history_days` says which days are here.

-- Paths are long and come again every day; rows hold their number.
CREATE TABLE page_paths (
    id      INTEGER NOT NULL PRIMARY KEY,
    project TEXT    NOT NULL,
    path    TEXT    NOT NULL,
    UNIQUE (project, path)
);

CREATE TABLE daily_views (
    project TEXT   NOT NULL,
    day     TEXT   NOT NULL,
    path_id BIGINT NOT NULL REFERENCES page_paths (id),
    human   BIGINT NOT NULL,
    ai      BIGINT NOT NULL,
    total   BIGINT NOT NULL,
    PRIMARY KEY (project, day, path_id)
) WITHOUT ROWID;

CREATE TABLE history_days (
    project     TEXT   NOT NULL,
    day         TEXT   NOT NULL,
    -- The totals that the upstream gave for the day, which its rows need not add up to.
    human       BIGINT NOT NULL,
    ai          BIGINT NOT NULL,
    total       BIGINT NOT NULL,
    pages       BIGINT NOT NULL,
    -- Equal for equal rows and totals, to tell whether two readings agree.
    digest      TEXT   NOT NULL,
    read_at     BIGINT NOT NULL,
    -- How many readings in a row agreed.
    agreed      BIGINT NOT NULL,
    settled_at  BIGINT,
    -- Null, 'uneven' or 'recounted'.
    mark        TEXT,
    PRIMARY KEY (project, day)
);

-- A day that is being read, page by page, so that a restart goes on where it was.
CREATE TABLE history_reading (
    project TEXT   NOT NULL,
    day     TEXT   NOT NULL,
    page    BIGINT NOT NULL,
    -- The answer's rows and totals as JSON.
    answer  TEXT   NOT NULL,
    read_at BIGINT NOT NULL,
    PRIMARY KEY (project, day, page)
);

CREATE TABLE annotations (
    id         TEXT   NOT NULL PRIMARY KEY,
    project    TEXT   NOT NULL,
    day        TEXT   NOT NULL,
    text       TEXT   NOT NULL,
    author_id  TEXT   NOT NULL REFERENCES users (id),
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE INDEX annotations_of_project ON annotations (project, day);

-- Days that a person asked for: read before all others.
CREATE TABLE history_wanted (
    project  TEXT   NOT NULL,
    day      TEXT   NOT NULL,
    asked_at BIGINT NOT NULL,
    PRIMARY KEY (project, day)
);
