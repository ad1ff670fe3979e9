-- A prompt that the platform refuses with status 403 is sent once more, and then rejected.
-- Tables: none

-- How often the platform refused the prompt with status 403.
ALTER TABLE messages ADD COLUMN refusals BIGINT NOT NULL DEFAULT 0;
