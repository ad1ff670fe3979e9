-- Whether the platform accepted a follow-up whose work its status does not show yet: a job that had ended before has not ended then. And why a prompt
-- is in its state, as a code for programs.
-- Tables: none

ALTER TABLE jobs ADD COLUMN follow_up_unseen BIGINT NOT NULL DEFAULT 0;
ALTER TABLE messages ADD COLUMN reason_code TEXT COLLATE "C";
