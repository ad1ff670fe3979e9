-- The order in which jobs changed, for programs that read only what changed. Each change of what a program sees of a job gets the next number of its
-- project, in the transaction of the change. And when the database was restored from a backup: numbers are used again then.
-- Tables: listed_jobs

ALTER TABLE project_changes ADD COLUMN last_change BIGINT NOT NULL DEFAULT 0;
ALTER TABLE project_changes ADD COLUMN restored_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE listed_jobs ADD COLUMN change BIGINT NOT NULL DEFAULT 0;

UPDATE listed_jobs SET change = number;
INSERT INTO project_changes (project, revision, last_change)
SELECT project, 1, MAX(number) FROM listed_jobs WHERE TRUE GROUP BY project
ON CONFLICT (project) DO UPDATE SET last_change = excluded.last_change;

CREATE INDEX listed_by_change_number ON listed_jobs (project, change);

-- Setting a change to its own value gives the job the next number.
CREATE VIEW job_changes AS SELECT job_id, project, change FROM listed_jobs;
CREATE TRIGGER note_change INSTEAD OF UPDATE OF change ON job_changes BEGIN
    INSERT INTO project_changes (project, revision, last_change) VALUES (new.project, 0, 1)
    ON CONFLICT (project) DO UPDATE SET last_change = last_change + 1;
    UPDATE listed_jobs SET change = (SELECT last_change FROM project_changes WHERE project = new.project)
    WHERE job_id = new.job_id;
END;

CREATE TRIGGER note_listed_job AFTER INSERT ON listed_jobs BEGIN
    UPDATE job_changes SET change = change WHERE job_id = new.job_id;
END;
CREATE TRIGGER note_changed_job
AFTER UPDATE OF state, reason, changed_at, outcome, remote_id, remote_status, repository, git_ref, pr_link, pr_is_earlier, remote_created_at, archived_here_at, next_poll_at, follow_up_unseen ON jobs
WHEN (new.state, new.reason, new.changed_at, new.outcome, new.remote_id, new.remote_status, new.repository, new.git_ref, new.pr_link, new.pr_is_earlier, new.remote_created_at, new.archived_here_at, new.next_poll_at IS NULL, new.follow_up_unseen)
    IS NOT (old.state, old.reason, old.changed_at, old.outcome, old.remote_id, old.remote_status, old.repository, old.git_ref, old.pr_link, old.pr_is_earlier, old.remote_created_at, old.archived_here_at, old.next_poll_at IS NULL, old.follow_up_unseen)
BEGIN
    UPDATE job_changes SET change = change WHERE job_id = new.id;
END;
CREATE TRIGGER note_message AFTER INSERT ON messages BEGIN
    UPDATE job_changes SET change = change WHERE job_id = new.job_id;
END;
CREATE TRIGGER note_changed_message AFTER UPDATE OF prompt, state, reason, reason_code ON messages
WHEN (new.prompt, new.state, new.reason, new.reason_code) IS NOT (old.prompt, old.state, old.reason, old.reason_code) BEGIN
    UPDATE job_changes SET change = change WHERE job_id = new.job_id;
END;
CREATE TRIGGER note_removed_message AFTER DELETE ON messages BEGIN
    UPDATE job_changes SET change = change WHERE job_id = old.job_id;
END;
CREATE TRIGGER note_page AFTER INSERT ON job_paths BEGIN
    UPDATE job_changes SET change = change WHERE job_id = new.job_id;
END;
CREATE TRIGGER note_removed_page AFTER DELETE ON job_paths BEGIN
    UPDATE job_changes SET change = change WHERE job_id = old.job_id;
END;
CREATE TRIGGER note_tag AFTER INSERT ON job_tags BEGIN
    UPDATE job_changes SET change = change WHERE job_id = new.job_id;
END;
CREATE TRIGGER note_removed_tag AFTER DELETE ON job_tags BEGIN
    UPDATE job_changes SET change = change WHERE job_id = old.job_id;
END;
CREATE TRIGGER note_template AFTER INSERT ON job_templates BEGIN
    UPDATE job_changes SET change = change WHERE job_id = new.job_id;
END;
CREATE TRIGGER note_removed_template AFTER UPDATE OF template_id ON job_templates WHEN new.template_id IS NOT old.template_id BEGIN
    UPDATE job_changes SET change = change WHERE job_id = new.job_id;
END;
CREATE TRIGGER note_pull_request AFTER INSERT ON pull_requests BEGIN
    UPDATE job_changes SET change = change WHERE job_id = new.job_id;
END;
CREATE TRIGGER note_changed_pull_request
AFTER UPDATE OF state, checks, review, waiting_for, conflict, files, files_total, opened_at, merged_at, closed_at ON pull_requests
WHEN (new.state, new.checks, new.review, new.waiting_for, new.conflict, new.files, new.files_total, new.opened_at, new.merged_at, new.closed_at)
    IS NOT (old.state, old.checks, old.review, old.waiting_for, old.conflict, old.files, old.files_total, old.opened_at, old.merged_at, old.closed_at)
BEGIN
    UPDATE job_changes SET change = change WHERE job_id = new.job_id;
END;
CREATE TRIGGER note_removed_pull_request AFTER DELETE ON pull_requests BEGIN
    UPDATE job_changes SET change = change WHERE job_id = old.job_id;
END;
