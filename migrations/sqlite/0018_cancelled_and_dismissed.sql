-- A prompt that a person cancelled is in a state of its own, and a job that needs attention can be dismissed, for everybody,
-- until something happens to it.
ALTER TABLE jobs ADD COLUMN dismissed_at BIGINT;
ALTER TABLE jobs ADD COLUMN dismissed_by TEXT;
ALTER TABLE listed_jobs ADD COLUMN dismissed BIGINT NOT NULL DEFAULT 0;

DROP TRIGGER relist_job;
CREATE TRIGGER relist_job AFTER UPDATE OF archived_here_at, dismissed_at, state, pr_link, remote_status, changed_at ON jobs BEGIN
    UPDATE listed_jobs SET archived = new.archived_here_at IS NOT NULL, dismissed = new.dismissed_at IS NOT NULL,
        state = new.state, has_pr = new.pr_link IS NOT NULL,
        lost = COALESCE(new.remote_status, '') IN ('not found', 'no end'), changed_at = new.changed_at
    WHERE job_id = new.id;
END;
CREATE TRIGGER end_dismissal AFTER UPDATE OF state, remote_status, pr_link, revision ON jobs
WHEN new.dismissed_at IS NOT NULL
    AND (new.state, new.remote_status, new.pr_link, new.revision) IS NOT (old.state, old.remote_status, old.pr_link, old.revision)
BEGIN
    UPDATE jobs SET dismissed_at = NULL, dismissed_by = NULL WHERE id = new.id;
END;

DROP TRIGGER list_attention;
CREATE TRIGGER list_attention AFTER UPDATE OF archived, dismissed, state, has_pr, lost ON listed_jobs BEGIN
    UPDATE listed_jobs SET attention = CASE
        WHEN archived = 1 OR dismissed = 1 OR state = 'cancelled' THEN 0
        WHEN state IN ('unknown', 'failed', 'rejected') THEN 1
        WHEN state = 'completed' AND has_pr = 0 THEN 1
        WHEN state = 'other' AND lost = 1 THEN 1
        WHEN EXISTS (SELECT 1 FROM messages WHERE job_id = new.job_id AND state = 'unknown') THEN 1
        -- The last prompt was not accepted: one that was accepted since has taken its place.
        WHEN EXISTS (SELECT 1 FROM messages WHERE job_id = new.job_id AND state = 'rejected'
            AND position = (SELECT MAX(position) FROM messages WHERE job_id = new.job_id)) THEN 1
        ELSE 0 END
    WHERE number = new.number;
END;

-- What the database holds already.
UPDATE messages SET state = 'cancelled' WHERE state = 'rejected' AND cancelled = 1;
UPDATE jobs SET state = 'cancelled' WHERE state = 'rejected'
    AND EXISTS (SELECT 1 FROM messages m WHERE m.job_id = jobs.id AND m.position = 0 AND m.state = 'cancelled');
UPDATE job_events SET state = 'cancelled' WHERE state = 'rejected' AND detail LIKE 'Cancelled by % before it was sent.';
