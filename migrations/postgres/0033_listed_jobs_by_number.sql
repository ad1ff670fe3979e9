-- What a set of jobs (those with a label, those that a search finds) is counted and filtered by, beside the number that finds it.
CREATE UNIQUE INDEX listed_by_number
    ON listed_jobs (number) INCLUDE (project, archived, state, attention, has_pr, author_id, changed_at, job_id);
