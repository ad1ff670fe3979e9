-- Results and texts that versions before 0.1.0 stored get the form in which later versions store them.
-- Tables: batches, job_events, job_paths, job_tags, messages, templates, users

-- What a completed job without follow-ups produced: its pull request, or no changes. In a job with follow-ups nobody knows which prompt produced it.
UPDATE job_events SET detail = COALESCE((SELECT pr_link FROM jobs WHERE jobs.id = job_events.job_id), 'no changes')
WHERE detail IS NULL AND state = 'completed'
    AND NOT EXISTS (SELECT 1 FROM messages WHERE messages.job_id = job_events.job_id AND messages.position > 0);

-- Docket itself normalizes the texts, in the same transaction (`store::dialect::migrations::normalized_texts`): SQLite cannot.
