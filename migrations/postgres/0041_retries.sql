-- A job that was run again and its retry name each other, and the job needs no attention any more when the retry opened a pull request.
ALTER TABLE jobs ADD COLUMN retry_of TEXT COLLATE "C";
-- The retry that opened a pull request, until something happens to the job.
ALTER TABLE jobs ADD COLUMN resolved_by TEXT COLLATE "C";
CREATE INDEX jobs_by_retry ON jobs (retry_of) WHERE retry_of IS NOT NULL;
