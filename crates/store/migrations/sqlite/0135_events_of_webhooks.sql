-- A webhook can be restricted to some types of events.
-- Tables: none

-- The types, separated by commas; empty: all.
ALTER TABLE webhooks ADD COLUMN events TEXT NOT NULL DEFAULT '';
