-- Whether a prompt may wait: without it, a prompt that cannot be sent at once is rejected, and nothing is sent later.
-- Tables: none

ALTER TABLE messages ADD COLUMN may_queue BIGINT NOT NULL DEFAULT 1;
