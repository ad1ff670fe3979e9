-- A repeated request of a script gets the answer to the first one, also if its template was changed or deleted since.
-- Tables: none

-- The hash of what a script sent. NULL: the prompt of a form, or of a version before this one.
ALTER TABLE messages ADD COLUMN request_hash TEXT;
