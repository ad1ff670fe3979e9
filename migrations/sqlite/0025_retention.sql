-- Removing old jobs in small steps (docs/retention.md), and counts of jobs that need not be counted each time.

-- The intents of removed jobs: a form that is sent again after that still starts nothing.
CREATE TABLE removed_intents (
    author_id TEXT NOT NULL,
    intent    TEXT NOT NULL,
    PRIMARY KEY (author_id, intent)
) WITHOUT ROWID;

-- How many rows of which table were removed since the last record of that in the audit log.
CREATE TABLE removed_rows (
    name  TEXT   NOT NULL PRIMARY KEY,
    count BIGINT NOT NULL
);

CREATE INDEX drafts_by_age ON drafts (updated_at);
CREATE INDEX drafts_of_job ON drafts (subject);
CREATE INDEX webhook_deliveries_of_job ON webhook_deliveries (job_id) WHERE job_id IS NOT NULL;

-- A job can leave the list before its texts are deleted, so that they are not indexed again one by one.
DROP TRIGGER unlist_job;
CREATE TRIGGER unlist_job AFTER DELETE ON jobs BEGIN
    DELETE FROM listed_jobs WHERE job_id = old.id;
END;
CREATE TRIGGER unlist_words AFTER DELETE ON listed_jobs BEGIN
    DELETE FROM job_words WHERE rowid = old.number;
    DELETE FROM job_characters WHERE rowid = old.number;
END;

-- How many listed jobs there are of each kind. Only the triggers below write here.
CREATE TABLE job_counts (
    project   TEXT   NOT NULL,
    archived  BIGINT NOT NULL,
    state     TEXT   NOT NULL,
    attention BIGINT NOT NULL,
    has_pr    BIGINT NOT NULL,
    jobs      BIGINT NOT NULL,
    PRIMARY KEY (project, archived, state, attention, has_pr)
) WITHOUT ROWID;
INSERT INTO job_counts (project, archived, state, attention, has_pr, jobs)
SELECT project, archived, state, attention, has_pr, COUNT(*) FROM listed_jobs
GROUP BY project, archived, state, attention, has_pr;

-- Changes are added up, because the triggers of one change come in no certain order.
CREATE TRIGGER count_job AFTER INSERT ON listed_jobs BEGIN
    INSERT INTO job_counts (project, archived, state, attention, has_pr, jobs)
    VALUES (new.project, new.archived, new.state, new.attention, new.has_pr, 1)
    ON CONFLICT (project, archived, state, attention, has_pr) DO UPDATE SET jobs = jobs + excluded.jobs;
END;
CREATE TRIGGER recount_job AFTER UPDATE OF archived, state, attention, has_pr ON listed_jobs
WHEN (new.archived, new.state, new.attention, new.has_pr) IS NOT (old.archived, old.state, old.attention, old.has_pr)
BEGIN
    INSERT INTO job_counts (project, archived, state, attention, has_pr, jobs)
    VALUES (old.project, old.archived, old.state, old.attention, old.has_pr, -1),
        (new.project, new.archived, new.state, new.attention, new.has_pr, 1)
    ON CONFLICT (project, archived, state, attention, has_pr) DO UPDATE SET jobs = jobs + excluded.jobs;
END;
CREATE TRIGGER uncount_job AFTER DELETE ON listed_jobs BEGIN
    INSERT INTO job_counts (project, archived, state, attention, has_pr, jobs)
    VALUES (old.project, old.archived, old.state, old.attention, old.has_pr, -1)
    ON CONFLICT (project, archived, state, attention, has_pr) DO UPDATE SET jobs = jobs + excluded.jobs;
END;

-- The few jobs that need attention among all others.
CREATE INDEX listed_needing ON listed_jobs (project, archived, number, state, has_pr, author_id) WHERE attention = 1;
