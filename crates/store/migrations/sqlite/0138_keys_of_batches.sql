-- A script starts a batch once for each idempotency key: a request with the same key and another body is refused.
-- Tables: none

-- The hash of all that a script submitted. NULL: a batch of a form.
ALTER TABLE batches ADD COLUMN body_hash TEXT;
