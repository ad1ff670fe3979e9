-- The token that replaces one that was rotated. A replaced token is not rotated again.
-- Tables: api_tokens

ALTER TABLE api_tokens ADD COLUMN replaced_by TEXT COLLATE "C";
