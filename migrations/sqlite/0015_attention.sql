-- A follow-up that was not taken, or nobody knows of, needs a person like a first prompt does; a prompt that a person cancelled
-- needs nobody.
ALTER TABLE messages ADD COLUMN cancelled BIGINT NOT NULL DEFAULT 0;
UPDATE messages SET cancelled = 1 WHERE state = 'rejected' AND reason LIKE 'Cancelled by % before it was sent.';

DROP TRIGGER list_attention;
CREATE TRIGGER list_attention AFTER UPDATE OF archived, state, has_pr, lost ON listed_jobs BEGIN
    UPDATE listed_jobs SET attention = CASE
        WHEN archived = 1 THEN 0
        WHEN state IN ('unknown', 'failed') THEN 1
        WHEN state = 'rejected' THEN
            NOT EXISTS (SELECT 1 FROM messages WHERE job_id = new.job_id AND position = 0 AND cancelled = 1)
        WHEN state = 'completed' AND has_pr = 0 THEN 1
        WHEN state = 'other' AND lost = 1 THEN 1
        WHEN EXISTS (SELECT 1 FROM messages WHERE job_id = new.job_id AND state = 'unknown') THEN 1
        -- The last word that was not taken: one that was taken since has its place.
        WHEN EXISTS (SELECT 1 FROM messages WHERE job_id = new.job_id AND state = 'rejected' AND cancelled = 0
            AND position = (SELECT MAX(position) FROM messages WHERE job_id = new.job_id)) THEN 1
        ELSE 0 END
    WHERE number = new.number;
END;
CREATE TRIGGER list_follow_up AFTER INSERT ON messages WHEN new.position > 0 BEGIN
    UPDATE listed_jobs SET lost = lost WHERE job_id = new.job_id;
END;
CREATE TRIGGER relist_follow_up AFTER UPDATE OF state ON messages WHEN new.position > 0 BEGIN
    UPDATE listed_jobs SET lost = lost WHERE job_id = new.job_id;
END;

-- What the ledger holds already.
UPDATE listed_jobs SET lost = lost;
