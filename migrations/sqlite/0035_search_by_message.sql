-- The search indexes each follow-up once, in an entry of its own. Before, each follow-up indexed all texts of its job again. What is
-- indexed already stays as it is, so this takes no longer on a large database; and texts are normalized (NFC) in the background.

-- The words of a follow-up under the number of its job * 1048576 + its position. Those of prompts are in `job_words`; what was indexed
-- before this migration has the follow-ups of that time there too.
CREATE VIRTUAL TABLE follow_up_words USING fts5 (
    text, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 2', prefix = '1 2'
);
CREATE VIRTUAL TABLE follow_up_characters USING fts5 (
    text, content = '', contentless_delete = 1, tokenize = 'trigram remove_diacritics 1'
);

-- Messages with the numbers of their entries, and whether they hold a script that is written without spaces between words: Thai and
-- Lao, Myanmar, Khmer, the scripts of China, Japan and Korea, and their further planes.
CREATE VIEW indexed_messages AS
SELECT m.id, m.job_id, m.position, m.prompt, l.number, l.number * 1048576 + m.position AS entry,
    m.prompt GLOB '*['
        || char(0x0e00) || '-' || char(0x0eff) || char(0x1000) || '-' || char(0x109f)
        || char(0x1780) || '-' || char(0x17ff) || char(0x2e80) || '-' || char(0xa4cf)
        || char(0xac00) || '-' || char(0xd7ff) || char(0xf900) || '-' || char(0xfaff)
        || char(0xff66) || '-' || char(0xff9f) || char(0x20000) || '-' || char(0x3ffff) || ']*' AS unspaced
FROM messages m JOIN listed_jobs l ON l.job_id = m.job_id WHERE m.position < 1048576;

DROP TRIGGER list_text;
DROP TRIGGER relist_text;
DROP TRIGGER unlist_text;
DROP TRIGGER index_texts;
DROP TRIGGER unlist_words;

-- To set an entry to what it is indexes its message again.
CREATE TRIGGER index_message INSTEAD OF UPDATE OF entry ON indexed_messages BEGIN
    DELETE FROM job_words WHERE new.position = 0 AND rowid = new.number;
    DELETE FROM job_characters WHERE new.position = 0 AND rowid = new.number;
    DELETE FROM follow_up_words WHERE new.position > 0 AND rowid = new.entry;
    DELETE FROM follow_up_characters WHERE new.position > 0 AND rowid = new.entry;
    INSERT INTO job_words (rowid, text) SELECT new.number, new.prompt WHERE new.position = 0;
    INSERT INTO job_characters (rowid, text) SELECT new.number, new.prompt WHERE new.position = 0 AND new.unspaced = 1;
    INSERT INTO follow_up_words (rowid, text) SELECT new.entry, new.prompt WHERE new.position > 0;
    INSERT INTO follow_up_characters (rowid, text) SELECT new.entry, new.prompt WHERE new.position > 0 AND new.unspaced = 1;
    UPDATE listed_jobs SET unspaced = 1 WHERE number = new.number AND unspaced = 0 AND new.unspaced = 1;
END;
-- To set `texts` to what it is indexes all messages of a job again.
CREATE TRIGGER index_texts AFTER UPDATE OF texts ON listed_jobs WHEN new.texts = old.texts BEGIN
    DELETE FROM job_words WHERE rowid = new.number;
    DELETE FROM job_characters WHERE rowid = new.number;
    DELETE FROM follow_up_words WHERE rowid BETWEEN new.number * 1048576 AND new.number * 1048576 + 1048575;
    DELETE FROM follow_up_characters WHERE rowid BETWEEN new.number * 1048576 AND new.number * 1048576 + 1048575;
    UPDATE listed_jobs SET unspaced = 0 WHERE number = new.number AND unspaced = 1;
    UPDATE indexed_messages SET entry = entry WHERE job_id = new.job_id;
END;
CREATE TRIGGER list_text AFTER INSERT ON messages BEGIN
    UPDATE listed_jobs SET texts = texts + 1 WHERE job_id = new.job_id;
    UPDATE indexed_messages SET entry = entry WHERE id = new.id;
END;
CREATE TRIGGER relist_text AFTER UPDATE OF prompt ON messages BEGIN
    UPDATE listed_jobs SET texts = texts + 1 WHERE job_id = new.job_id;
    UPDATE indexed_messages SET entry = entry WHERE id = new.id;
END;
CREATE TRIGGER unlist_text AFTER DELETE ON messages BEGIN
    UPDATE listed_jobs SET texts = texts + 1 WHERE job_id = old.job_id;
    UPDATE listed_jobs SET texts = texts WHERE job_id = old.job_id;
END;
CREATE TRIGGER unlist_words AFTER DELETE ON listed_jobs BEGIN
    DELETE FROM job_words WHERE rowid = old.number;
    DELETE FROM job_characters WHERE rowid = old.number;
    DELETE FROM follow_up_words WHERE rowid BETWEEN old.number * 1048576 AND old.number * 1048576 + 1048575;
    DELETE FROM follow_up_characters WHERE rowid BETWEEN old.number * 1048576 AND old.number * 1048576 + 1048575;
END;

-- What is read with each follow-up, without the texts of its job and of its author.
CREATE INDEX messages_of_job ON messages (job_id, state, position);
CREATE INDEX messages_queued_by_author ON messages (author_id) WHERE state = 'queued';

-- How far the texts of a table are normalized: up to this key.
CREATE TABLE normalized_texts (
    name TEXT NOT NULL PRIMARY KEY,
    last TEXT NOT NULL
);
