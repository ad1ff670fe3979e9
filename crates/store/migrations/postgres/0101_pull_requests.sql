-- The pull requests of jobs, as their code hosts last reported them.

CREATE TABLE pull_requests (
    job_id        TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES jobs (id),
    project       TEXT COLLATE "C" NOT NULL,
    -- That of the job in listed_jobs.
    number        BIGINT NOT NULL,
    url           TEXT COLLATE "C" NOT NULL,
    -- The web address of its code host. NULL: not determined yet; empty: Docket has no connection to it.
    host          TEXT COLLATE "C",
    state         TEXT COLLATE "C" NOT NULL DEFAULT 'unknown',
    checks        TEXT COLLATE "C" NOT NULL DEFAULT 'unreadable',
    review        TEXT COLLATE "C" NOT NULL DEFAULT 'none',
    waiting_for   TEXT COLLATE "C" NOT NULL DEFAULT 'nobody',
    -- Since when it waits for them.
    waiting_since BIGINT,
    conflict      BIGINT NOT NULL DEFAULT 0,
    -- Lists of texts in JSON.
    reviewers     TEXT COLLATE "C" NOT NULL DEFAULT '[]',
    files         TEXT COLLATE "C" NOT NULL DEFAULT '[]',
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
    host          TEXT COLLATE "C" NOT NULL PRIMARY KEY,
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
CREATE FUNCTION list_pull_request() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO pull_requests (job_id, project, number, url)
    SELECT id, project, NEW.number, pr_link FROM jobs WHERE id = NEW.job_id AND pr_link IS NOT NULL
    ON CONFLICT (job_id) DO NOTHING;
    RETURN NULL;
END $$;
CREATE TRIGGER list_pull_request AFTER INSERT ON listed_jobs FOR EACH ROW WHEN (NEW.has_pr = 1) EXECUTE FUNCTION list_pull_request();

CREATE FUNCTION relist_pull_request() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN
    DELETE FROM pull_requests WHERE job_id = NEW.id;
    INSERT INTO pull_requests (job_id, project, number, url)
    SELECT job_id, project, number, NEW.pr_link FROM listed_jobs WHERE job_id = NEW.id AND NEW.pr_link IS NOT NULL;
    RETURN NULL;
END $$;
CREATE TRIGGER relist_pull_request AFTER UPDATE OF pr_link ON jobs FOR EACH ROW WHEN (NEW.pr_link IS DISTINCT FROM OLD.pr_link)
EXECUTE FUNCTION relist_pull_request();

-- The agent may have changed the pull request.
CREATE FUNCTION check_pull_request() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN
    UPDATE pull_requests SET next_check_at = 0 WHERE job_id = NEW.id AND host <> '';
    RETURN NULL;
END $$;
CREATE TRIGGER check_pull_request AFTER UPDATE OF state ON jobs FOR EACH ROW WHEN (NEW.state <> OLD.state AND NEW.pr_link IS NOT NULL)
EXECUTE FUNCTION check_pull_request();

CREATE FUNCTION unlist_pull_request() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN
    DELETE FROM pull_requests WHERE job_id = OLD.id;
    RETURN OLD;
END $$;
CREATE TRIGGER unlist_pull_request BEFORE DELETE ON jobs FOR EACH ROW EXECUTE FUNCTION unlist_pull_request();

CREATE TRIGGER count_pull_request
AFTER UPDATE OF state, checks, review, waiting_for, conflict, reviewers, files, files_total, merged_at, failure ON pull_requests FOR EACH ROW
WHEN ((NEW.state, NEW.checks, NEW.review, NEW.waiting_for, NEW.conflict, NEW.reviewers, NEW.files, NEW.files_total, NEW.merged_at, NEW.failure)
    IS DISTINCT FROM (OLD.state, OLD.checks, OLD.review, OLD.waiting_for, OLD.conflict, OLD.reviewers, OLD.files, OLD.files_total, OLD.merged_at, OLD.failure))
EXECUTE FUNCTION count_change();

INSERT INTO pull_requests (job_id, project, number, url)
SELECT j.id, j.project, l.number, j.pr_link FROM jobs j JOIN listed_jobs l ON l.job_id = j.id WHERE j.pr_link IS NOT NULL;
