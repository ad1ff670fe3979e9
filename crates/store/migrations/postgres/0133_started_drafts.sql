-- A draft starts one job: the form that began it, by its intent, is stored with the draft and with the prompt that was sent from it.
-- Tables: drafts, messages

ALTER TABLE drafts ADD COLUMN origin TEXT COLLATE "C" NOT NULL DEFAULT '';
UPDATE drafts SET origin = intent;

-- NULL: a prompt without a draft, or one that was started again on purpose.
ALTER TABLE messages ADD COLUMN draft TEXT COLLATE "C";
CREATE UNIQUE INDEX messages_of_draft ON messages (author_id, draft) WHERE draft IS NOT NULL;
