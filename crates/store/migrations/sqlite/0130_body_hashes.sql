-- A request with the same idempotency key and another body is refused, also if only its pages, tags or queueing differ.
-- Tables: none

-- The hash of all that was submitted. NULL: a prompt of a batch, or of a version before this one; then `request_hash` or the prompt is compared.
ALTER TABLE messages ADD COLUMN body_hash TEXT;
