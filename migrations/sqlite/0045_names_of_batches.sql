-- Batches have a name that people can change, and a list of their own, newest first.
ALTER TABLE batches ADD COLUMN name TEXT;
CREATE INDEX started_batches ON batches (project, started_at, id) WHERE started_at IS NOT NULL;
