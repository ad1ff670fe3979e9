-- The order in which jobs changed, for programs that read only what changed. Each change of what a program sees of a job gets the next number of its
-- project, in the transaction of the change. And when the database was restored from a backup: numbers are used again then.
-- Tables: listed_jobs

ALTER TABLE project_changes ADD COLUMN last_change BIGINT NOT NULL DEFAULT 0;
ALTER TABLE project_changes ADD COLUMN restored_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE listed_jobs ADD COLUMN change BIGINT NOT NULL DEFAULT 0;

UPDATE listed_jobs SET change = number;
INSERT INTO project_changes (project, revision, last_change)
SELECT project, 1, MAX(number) FROM listed_jobs GROUP BY project
ON CONFLICT (project) DO UPDATE SET last_change = excluded.last_change;

CREATE INDEX listed_by_change_number ON listed_jobs (project, change);

-- Gives the job the next number. The row of the project stays locked until the transaction ends, so numbers become visible in their order.
CREATE FUNCTION note_change(changed TEXT) RETURNS VOID LANGUAGE plpgsql AS $$
DECLARE
    of_project TEXT := (SELECT project FROM listed_jobs WHERE job_id = changed);
    next BIGINT;
BEGIN
    IF of_project IS NULL THEN
        RETURN;
    END IF;
    INSERT INTO project_changes (project, revision, last_change) VALUES (of_project, 0, 1)
    ON CONFLICT (project) DO UPDATE SET last_change = project_changes.last_change + 1
    RETURNING last_change INTO next;
    UPDATE listed_jobs SET change = next WHERE job_id = changed;
END $$;

CREATE FUNCTION note_job() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN
    PERFORM note_change(NEW.id);
    RETURN NULL;
END $$;
CREATE FUNCTION note_part_of_job() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN
    PERFORM note_change(COALESCE(NEW.job_id, OLD.job_id));
    RETURN NULL;
END $$;

CREATE TRIGGER note_listed_job AFTER INSERT ON listed_jobs FOR EACH ROW EXECUTE FUNCTION note_part_of_job();
CREATE TRIGGER note_changed_job
AFTER UPDATE OF state, reason, changed_at, outcome, remote_id, remote_status, repository, git_ref, pr_link, pr_is_earlier, remote_created_at, archived_here_at, next_poll_at, follow_up_unseen ON jobs FOR EACH ROW
WHEN ((NEW.state, NEW.reason, NEW.changed_at, NEW.outcome, NEW.remote_id, NEW.remote_status, NEW.repository, NEW.git_ref, NEW.pr_link, NEW.pr_is_earlier, NEW.remote_created_at, NEW.archived_here_at, NEW.next_poll_at IS NULL, NEW.follow_up_unseen)
    IS DISTINCT FROM (OLD.state, OLD.reason, OLD.changed_at, OLD.outcome, OLD.remote_id, OLD.remote_status, OLD.repository, OLD.git_ref, OLD.pr_link, OLD.pr_is_earlier, OLD.remote_created_at, OLD.archived_here_at, OLD.next_poll_at IS NULL, OLD.follow_up_unseen))
EXECUTE FUNCTION note_job();
CREATE TRIGGER note_message AFTER INSERT OR DELETE ON messages FOR EACH ROW EXECUTE FUNCTION note_part_of_job();
CREATE TRIGGER note_changed_message AFTER UPDATE OF prompt, state, reason, reason_code ON messages FOR EACH ROW
WHEN ((NEW.prompt, NEW.state, NEW.reason, NEW.reason_code) IS DISTINCT FROM (OLD.prompt, OLD.state, OLD.reason, OLD.reason_code))
EXECUTE FUNCTION note_part_of_job();
CREATE TRIGGER note_page AFTER INSERT OR DELETE ON job_paths FOR EACH ROW EXECUTE FUNCTION note_part_of_job();
CREATE TRIGGER note_tag AFTER INSERT OR DELETE ON job_tags FOR EACH ROW EXECUTE FUNCTION note_part_of_job();
CREATE TRIGGER note_template AFTER INSERT ON job_templates FOR EACH ROW EXECUTE FUNCTION note_part_of_job();
CREATE TRIGGER note_removed_template AFTER UPDATE OF template_id ON job_templates FOR EACH ROW
WHEN (NEW.template_id IS DISTINCT FROM OLD.template_id) EXECUTE FUNCTION note_part_of_job();
CREATE TRIGGER note_pull_request AFTER INSERT OR DELETE ON pull_requests FOR EACH ROW EXECUTE FUNCTION note_part_of_job();
CREATE TRIGGER note_changed_pull_request
AFTER UPDATE OF state, checks, review, waiting_for, conflict, files, files_total, opened_at, merged_at, closed_at ON pull_requests FOR EACH ROW
WHEN ((NEW.state, NEW.checks, NEW.review, NEW.waiting_for, NEW.conflict, NEW.files, NEW.files_total, NEW.opened_at, NEW.merged_at, NEW.closed_at)
    IS DISTINCT FROM (OLD.state, OLD.checks, OLD.review, OLD.waiting_for, OLD.conflict, OLD.files, OLD.files_total, OLD.opened_at, OLD.merged_at, OLD.closed_at))
EXECUTE FUNCTION note_part_of_job();
