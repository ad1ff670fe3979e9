-- For limits that are checked with each write: the prompts of a person that were not sent, and the job of an id at the platform.
CREATE INDEX messages_not_sent ON messages (author_id, created_at) WHERE state IN ('cancelled', 'rejected');
CREATE INDEX jobs_of_remote_id ON jobs (remote_id) WHERE remote_id IS NOT NULL;
