-- The pull requests of jobs, as their code hosts last reported them.

CREATE TABLE pull_requests (
    job_id        TEXT   NOT NULL PRIMARY KEY REFERENCES jobs (id),
    project       TEXT   NOT NULL,
    -- That of the job in listed_jobs.
    number        BIGINT NOT NULL,
    url           TEXT   NOT NULL,
    -- The web address of its code host. NULL: not determined yet; empty: Docket has no connection to it.
    host          TEXT,
    state         TEXT   NOT NULL DEFAULT 'unknown',
    checks        TEXT   NOT NULL DEFAULT 'unreadable',
    review        TEXT   NOT NULL DEFAULT 'none',
    waiting_for   TEXT   NOT NULL DEFAULT 'nobody',
    -- Since when it waits for them.
    waiting_since BIGINT,
    conflict      BIGINT NOT NULL DEFAULT 0,
    -- Lists of texts in JSON.
    reviewers     TEXT   NOT NULL DEFAULT '[]',
    files         TEXT   NOT NULL DEFAULT '[]',
    -- The number of changed files; `files` has the first ones.
    files_total   BIGINT NOT NULL DEFAULT 0,
    opened_at     BIGINT,
    merged_at     BIGINT,
    closed_at     BIGINT,
    -- When the code host last reported it.
    checked_at    BIGINT,
    -- NULL: never again.
    next_check_at BIGINT DEFAULT 0,
    -- Why the last check failed; NULL if it succeeded.
    failure       TEXT,
    -- How often it has failed in a row.
    failures      BIGINT NOT NULL DEFAULT 0,
    -- Whether it was reported as stale.
    stale         BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX pull_requests_by_state ON pull_requests (project, state, number);
CREATE INDEX pull_requests_waiting ON pull_requests (project, waiting_for, number) WHERE waiting_for <> 'nobody';
CREATE INDEX pull_requests_merged ON pull_requests (project, merged_at) WHERE state = 'merged';
CREATE INDEX pull_requests_in_conflict ON pull_requests (project, number) WHERE conflict = 1;
CREATE INDEX pull_requests_not_stale ON pull_requests (waiting_since) WHERE stale = 0 AND waiting_for <> 'nobody';
CREATE INDEX pull_requests_without_host ON pull_requests (job_id) WHERE host IS NULL;
CREATE INDEX pull_requests_to_check ON pull_requests (host, next_check_at) WHERE next_check_at IS NOT NULL;

-- The connections to code hosts, shared by all processes.
CREATE TABLE code_hosts (
    -- Its web address.
    host          TEXT   NOT NULL PRIMARY KEY,
    -- No request before this time.
    paused_until  BIGINT NOT NULL DEFAULT 0,
    -- The limit of its last response.
    rate_limit    BIGINT,
    remaining     BIGINT,
    resets_at     BIGINT,
    last_success  BIGINT,
    -- Why the last request failed, since when, and how often in a row; NULL and 0 if it succeeded.
    failure       TEXT,
    failing_since BIGINT,
    failures      BIGINT NOT NULL DEFAULT 0
);

CREATE TRIGGER list_pull_request AFTER INSERT ON listed_jobs WHEN new.has_pr = 1 BEGIN
    INSERT INTO pull_requests (job_id, project, number, url)
    SELECT id, project, new.number, pr_link FROM jobs WHERE id = new.job_id AND pr_link IS NOT NULL
    ON CONFLICT (job_id) DO NOTHING;
END;
CREATE TRIGGER relist_pull_request AFTER UPDATE OF pr_link ON jobs WHEN new.pr_link IS NOT old.pr_link BEGIN
    DELETE FROM pull_requests WHERE job_id = new.id;
    INSERT INTO pull_requests (job_id, project, number, url)
    SELECT job_id, project, number, new.pr_link FROM listed_jobs WHERE job_id = new.id AND new.pr_link IS NOT NULL;
END;
-- The agent may have changed the pull request.
CREATE TRIGGER check_pull_request AFTER UPDATE OF state ON jobs WHEN new.state <> old.state AND new.pr_link IS NOT NULL BEGIN
    UPDATE pull_requests SET next_check_at = 0 WHERE job_id = new.id AND host <> '';
END;
CREATE TRIGGER unlist_pull_request BEFORE DELETE ON jobs BEGIN
    DELETE FROM pull_requests WHERE job_id = old.id;
END;
CREATE TRIGGER count_pull_request
AFTER UPDATE OF state, checks, review, waiting_for, conflict, reviewers, files, files_total, merged_at, failure ON pull_requests
WHEN (new.state, new.checks, new.review, new.waiting_for, new.conflict, new.reviewers, new.files, new.files_total, new.merged_at, new.failure)
    IS NOT (old.state, old.checks, old.review, old.waiting_for, old.conflict, old.reviewers, old.files, old.files_total, old.merged_at, old.failure)
BEGIN
    UPDATE project_changes SET revision = revision + 1 WHERE project = new.project;
END;

INSERT INTO pull_requests (job_id, project, number, url)
SELECT j.id, j.project, l.number, j.pr_link FROM jobs j JOIN listed_jobs l ON l.job_id = j.id WHERE j.pr_link IS NOT NULL;
