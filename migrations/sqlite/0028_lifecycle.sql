-- Which jobs need attention, and how long a dismissal holds, is written with each change of a state, not by triggers any more.
DROP TRIGGER list_attention;
DROP TRIGGER list_follow_up;
DROP TRIGGER relist_follow_up;
DROP TRIGGER end_dismissal;

DROP TRIGGER list_job;
CREATE TRIGGER list_job AFTER INSERT ON jobs BEGIN
    INSERT INTO listed_jobs (job_id, project, archived, state, has_pr, lost, changed_at)
    VALUES (new.id, new.project, new.archived_here_at IS NOT NULL, new.state, new.pr_link IS NOT NULL,
        COALESCE(new.remote_status, '') IN ('not found', 'no end'), new.changed_at);
END;
