-- The outcome of a delivery belongs to one claim: recorded again after its prompt was claimed again, it changes nothing.
-- Tables: none

-- How often the prompt was claimed.
ALTER TABLE messages ADD COLUMN claim BIGINT NOT NULL DEFAULT 0;
