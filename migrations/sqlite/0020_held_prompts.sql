-- Queued prompts of a person who was disabled or lost the right to start jobs: not sent before an administrator releases them.

-- When it was held; NULL for all others.
ALTER TABLE messages ADD COLUMN held_at BIGINT;
