-- A proposed secret of an authenticator is shown only in the session that proposed it.
-- Tables: none

-- The hash of that session's id. NULL: confirmed, or proposed without a session (a trusted proxy named the user) or by a version before this one.
ALTER TABLE second_factors ADD COLUMN proposed_by TEXT;
