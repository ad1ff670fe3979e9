-- Two checks of a pull request at the same time recorded its merge twice.
-- Tables: none

-- While a process checks it, the end of its claim: nobody else checks it until then.
ALTER TABLE pull_requests ADD COLUMN leased_until BIGINT;
