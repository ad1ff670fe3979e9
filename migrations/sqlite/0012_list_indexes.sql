-- The list of jobs reads one index from end to end at most. Each holds all that the list is filtered by, in the order of its
-- rows: newest or oldest first, by change, and by state for counting.
DROP INDEX listed_newest;
DROP INDEX listed_by_change;
DROP INDEX listed_by_state;
DROP INDEX listed_by_author;
DROP INDEX listed_by_pr;
DROP INDEX listed_by_attention;
DROP INDEX listed_counts;
CREATE INDEX listed_in_order ON listed_jobs (project, archived, number, state, attention, has_pr, author_id);
CREATE INDEX listed_by_change
    ON listed_jobs (project, archived, changed_at, number, state, attention, has_pr, author_id);
CREATE INDEX listed_by_state ON listed_jobs (project, archived, state, attention, has_pr, author_id);
