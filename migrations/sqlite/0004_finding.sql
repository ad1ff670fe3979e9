-- Finding jobs: the list with its filters, the search, tags, what was archived here, and the views people keep.

-- Archived by a person of this panel, who may bring it back; the upstream hears nothing of it.
ALTER TABLE jobs ADD COLUMN archived_here_at BIGINT;
ALTER TABLE jobs ADD COLUMN archived_by TEXT;

-- Free words. `folded` is the word in lower case: a job has each word once, however it is written.
CREATE TABLE job_tags (
    job_id TEXT NOT NULL REFERENCES jobs (id),
    folded TEXT NOT NULL,
    tag    TEXT NOT NULL,
    PRIMARY KEY (job_id, folded)
);

-- Filters of the list under a name. `query` is canonical: known fields only, in a fixed order.
CREATE TABLE saved_views (
    id         TEXT   NOT NULL PRIMARY KEY,
    project    TEXT   NOT NULL,
    owner_id   TEXT   NOT NULL REFERENCES users (id),
    name       TEXT   NOT NULL,
    query      TEXT   NOT NULL,
    shared     BIGINT NOT NULL DEFAULT 0,
    created_at BIGINT NOT NULL,
    UNIQUE (project, owner_id, name)
);

-- One narrow row a job: all that the list is filtered, sorted and counted by. Only the triggers below write here, so that
-- it is in step with the ledger whoever writes that. Numbers grow in the order in which jobs were committed.
CREATE TABLE listed_jobs (
    number     INTEGER PRIMARY KEY,
    project    TEXT   NOT NULL,
    archived   BIGINT NOT NULL,
    state      TEXT   NOT NULL,
    -- Whether a person has to look at it.
    attention  BIGINT NOT NULL DEFAULT 0,
    has_pr     BIGINT NOT NULL,
    -- The upstream lost it, or following it was given up.
    lost       BIGINT NOT NULL,
    -- Whether its texts hold a script that is written without spaces between words.
    unspaced   BIGINT NOT NULL DEFAULT 0,
    changed_at BIGINT NOT NULL,
    -- Counts the times its texts changed.
    texts      BIGINT NOT NULL DEFAULT 0,
    author_id  TEXT,
    job_id     TEXT   NOT NULL UNIQUE
);
CREATE INDEX listed_newest ON listed_jobs (project, archived);
CREATE INDEX listed_by_change ON listed_jobs (project, archived, changed_at);
CREATE INDEX listed_by_state ON listed_jobs (project, archived, state);
CREATE INDEX listed_by_author ON listed_jobs (project, archived, author_id);
CREATE INDEX listed_by_pr ON listed_jobs (project, archived, has_pr);
CREATE INDEX listed_by_attention ON listed_jobs (project, archived, attention);
CREATE INDEX listed_unspaced ON listed_jobs (project, unspaced);
-- For counting alone.
CREATE INDEX listed_counts ON listed_jobs (project, archived, state, attention);

-- The pages and tags of a job, to filter by; a page begins with a slash, a tag (folded) never does.
CREATE TABLE listed_labels (
    project TEXT   NOT NULL,
    label   TEXT   NOT NULL,
    number  BIGINT NOT NULL,
    PRIMARY KEY (project, label, number)
) WITHOUT ROWID;

-- The words of a job's prompt and follow-ups under its number. Nothing but the index is kept: the texts are in `messages`.
CREATE VIRTUAL TABLE job_words USING fts5 (
    text, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 2', prefix = '1 2'
);
-- The same for parts of words, of those jobs alone whose texts hold a script without spaces.
CREATE VIRTUAL TABLE job_characters USING fts5 (
    text, content = '', contentless_delete = 1, tokenize = 'trigram remove_diacritics 1'
);

CREATE TRIGGER list_job AFTER INSERT ON jobs BEGIN
    INSERT INTO listed_jobs (job_id, project, archived, state, has_pr, lost, changed_at)
    VALUES (new.id, new.project, new.archived_here_at IS NOT NULL, new.state, new.pr_link IS NOT NULL,
        COALESCE(new.remote_status, '') IN ('not found', 'no end'), new.changed_at);
    UPDATE listed_jobs SET state = new.state WHERE job_id = new.id;
END;
CREATE TRIGGER relist_job AFTER UPDATE OF archived_here_at, state, pr_link, remote_status, changed_at ON jobs BEGIN
    UPDATE listed_jobs SET archived = new.archived_here_at IS NOT NULL, state = new.state, has_pr = new.pr_link IS NOT NULL,
        lost = COALESCE(new.remote_status, '') IN ('not found', 'no end'), changed_at = new.changed_at
    WHERE job_id = new.id;
END;
CREATE TRIGGER list_attention AFTER UPDATE OF archived, state, has_pr, lost ON listed_jobs BEGIN
    UPDATE listed_jobs SET attention = CASE
        WHEN archived = 1 THEN 0
        WHEN state IN ('unknown', 'failed', 'rejected') THEN 1
        WHEN state = 'completed' AND has_pr = 0 THEN 1
        WHEN state = 'other' AND lost = 1 THEN 1
        ELSE 0 END
    WHERE number = new.number;
END;
CREATE TRIGGER unlist_job AFTER DELETE ON jobs BEGIN
    DELETE FROM job_words WHERE rowid = (SELECT number FROM listed_jobs WHERE job_id = old.id);
    DELETE FROM job_characters WHERE rowid = (SELECT number FROM listed_jobs WHERE job_id = old.id);
    DELETE FROM listed_jobs WHERE job_id = old.id;
END;

CREATE TRIGGER list_author AFTER INSERT ON messages WHEN new.position = 0 BEGIN
    UPDATE listed_jobs SET author_id = new.author_id WHERE job_id = new.job_id;
END;
CREATE TRIGGER list_text AFTER INSERT ON messages BEGIN
    UPDATE listed_jobs SET texts = texts + 1 WHERE job_id = new.job_id;
END;
CREATE TRIGGER relist_text AFTER UPDATE OF prompt ON messages BEGIN
    UPDATE listed_jobs SET texts = texts + 1 WHERE job_id = new.job_id;
END;
CREATE TRIGGER unlist_text AFTER DELETE ON messages BEGIN
    UPDATE listed_jobs SET texts = texts + 1 WHERE job_id = old.job_id;
END;
-- The ranges: Thai and Lao, Myanmar, Khmer, the scripts of China, Japan and Korea, and their further planes.
CREATE TRIGGER index_texts AFTER UPDATE OF texts ON listed_jobs BEGIN
    UPDATE listed_jobs SET unspaced = EXISTS (
        SELECT 1 FROM messages WHERE job_id = new.job_id AND prompt GLOB '*['
            || char(0x0e00) || '-' || char(0x0eff) || char(0x1000) || '-' || char(0x109f)
            || char(0x1780) || '-' || char(0x17ff) || char(0x2e80) || '-' || char(0xa4cf)
            || char(0xac00) || '-' || char(0xd7ff) || char(0xf900) || '-' || char(0xfaff)
            || char(0xff66) || '-' || char(0xff9f) || char(0x20000) || '-' || char(0x3ffff) || ']*'
    ) WHERE number = new.number;
    INSERT OR REPLACE INTO job_words (rowid, text)
    SELECT new.number, group_concat(prompt, char(10)) FROM messages WHERE job_id = new.job_id;
    INSERT OR REPLACE INTO job_characters (rowid, text)
    SELECT l.number, group_concat(m.prompt, char(10)) FROM listed_jobs l JOIN messages m ON m.job_id = l.job_id
    WHERE l.number = new.number AND l.unspaced = 1 GROUP BY l.number;
END;

CREATE TRIGGER label_page AFTER INSERT ON job_paths BEGIN
    INSERT INTO listed_labels (project, label, number)
    SELECT project, new.path, number FROM listed_jobs WHERE job_id = new.job_id ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER unlabel_page AFTER DELETE ON job_paths BEGIN
    DELETE FROM listed_labels WHERE label = old.path
        AND (project, number) IN (SELECT project, number FROM listed_jobs WHERE job_id = old.job_id);
END;
CREATE TRIGGER label_tag AFTER INSERT ON job_tags BEGIN
    INSERT INTO listed_labels (project, label, number)
    SELECT project, new.folded, number FROM listed_jobs WHERE job_id = new.job_id ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER unlabel_tag AFTER DELETE ON job_tags BEGIN
    DELETE FROM listed_labels WHERE label = old.folded
        AND (project, number) IN (SELECT project, number FROM listed_jobs WHERE job_id = old.job_id);
END;

-- What the ledger holds already.
INSERT INTO listed_jobs (job_id, project, archived, state, has_pr, lost, changed_at, author_id)
SELECT j.id, j.project, 0, j.state, j.pr_link IS NOT NULL, COALESCE(j.remote_status, '') IN ('not found', 'no end'),
    j.changed_at, (SELECT author_id FROM messages WHERE job_id = j.id AND position = 0)
FROM jobs j ORDER BY j.id;
INSERT INTO listed_labels (project, label, number)
SELECT l.project, p.path, l.number FROM job_paths p JOIN listed_jobs l ON l.job_id = p.job_id WHERE true ON CONFLICT DO NOTHING;
UPDATE listed_jobs SET texts = 1, state = state;
