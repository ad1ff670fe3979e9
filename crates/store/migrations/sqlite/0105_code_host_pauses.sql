-- Why a code host is paused, and which pull request failed last: one alone is no evidence against its host.
-- Tables: none

-- 'limit', 'failing' or 'no_access'; NULL without a pause.
ALTER TABLE code_hosts ADD COLUMN pause_reason TEXT;
-- A pull request or an owner of repositories; NULL if anything succeeded since.
ALTER TABLE code_hosts ADD COLUMN suspect TEXT;
