-- The notifications show the last changes only. What changed between `seen_from` and `seen_to` was shown; what changed earlier, but after
-- `at`, was not.
ALTER TABLE looked_at ADD COLUMN seen_from BIGINT NOT NULL DEFAULT 0;
ALTER TABLE looked_at ADD COLUMN seen_to BIGINT NOT NULL DEFAULT 0;
