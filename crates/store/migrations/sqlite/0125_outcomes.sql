-- The last outcome that the platform reported for a job, `completed` or `failed`: it stays when the platform archives the job. And whether the platform
-- named the pull request in its last answer; otherwise it is an earlier one.
-- Tables: jobs

ALTER TABLE jobs ADD COLUMN outcome TEXT;
ALTER TABLE jobs ADD COLUMN pr_is_earlier BIGINT NOT NULL DEFAULT 0;

UPDATE jobs SET outcome = CASE WHEN state IN ('completed', 'failed') THEN state ELSE (
    SELECT e.state FROM job_events e WHERE e.job_id = jobs.id AND e.state IN ('completed', 'failed') ORDER BY e.id DESC LIMIT 1) END
WHERE remote_id IS NOT NULL;

UPDATE jobs SET pr_is_earlier = 1 WHERE pr_link IS NOT NULL AND remote_id IS NOT NULL AND 'no changes' = (
    SELECT e.detail FROM job_events e WHERE e.job_id = jobs.id AND e.state = 'completed' ORDER BY e.id DESC LIMIT 1);
