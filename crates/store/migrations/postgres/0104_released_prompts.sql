-- When an administrator released a prompt from hold.
-- Tables: none

-- A prompt is put on hold when it would be sent and its author may not start jobs, unless it was released since.
ALTER TABLE messages ADD COLUMN released_at BIGINT;
