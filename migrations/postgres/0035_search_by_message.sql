-- The search indexes each follow-up once, in an entry of its own. Before, each follow-up indexed all texts of its job again. What is
-- indexed already stays as it is, so this takes no longer on a large database; and texts are normalized (NFC) in the background.

-- The words of a follow-up. Those of prompts are in `job_words`; what was indexed before this migration has the follow-ups of that
-- time there too.
CREATE TABLE follow_up_words (
    number   BIGINT   NOT NULL,
    position BIGINT   NOT NULL,
    words    TSVECTOR NOT NULL,
    PRIMARY KEY (number, position)
);
CREATE INDEX follow_up_words_by_word ON follow_up_words USING gin (words);
CREATE TABLE follow_up_characters (
    number   BIGINT NOT NULL,
    position BIGINT NOT NULL,
    text     TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (number, position)
);
CREATE INDEX follow_up_characters_by_part ON follow_up_characters USING gin (text gin_trgm_ops);

-- The ranges: Thai and Lao, Myanmar, Khmer, the scripts of China, Japan and Korea, and their further planes.
CREATE FUNCTION docket_is_unspaced(given TEXT) RETURNS BOOLEAN LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT given COLLATE "C" ~
        '[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\ua4cf\uac00-\ud7ff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff]'
$$;

-- Writes the entries of a message.
CREATE FUNCTION index_message(of_job BIGINT, at BIGINT, given TEXT) RETURNS VOID LANGUAGE plpgsql AS $$
DECLARE
    found TSVECTOR;
    is_unspaced BOOLEAN := docket_is_unspaced(given);
BEGIN
    BEGIN
        found := docket_words(given);
    EXCEPTION WHEN program_limit_exceeded THEN
        -- More different words than one entry can hold: those of the beginning.
        found := docket_words(LEFT(given, 100000));
    END;
    IF at = 0 THEN
        DELETE FROM job_words WHERE number = of_job;
        DELETE FROM job_characters WHERE number = of_job;
        INSERT INTO job_words (number, words) VALUES (of_job, found);
    ELSE
        DELETE FROM follow_up_words WHERE number = of_job AND position = at;
        DELETE FROM follow_up_characters WHERE number = of_job AND position = at;
        INSERT INTO follow_up_words (number, position, words) VALUES (of_job, at, found);
    END IF;
    IF NOT is_unspaced THEN
        RETURN;
    END IF;
    IF at = 0 THEN
        INSERT INTO job_characters (number, text) VALUES (of_job, docket_fold(given));
    ELSE
        INSERT INTO follow_up_characters (number, position, text) VALUES (of_job, at, docket_fold(given));
    END IF;
    UPDATE listed_jobs SET unspaced = 1 WHERE number = of_job AND unspaced = 0;
END $$;

CREATE OR REPLACE FUNCTION list_text() RETURNS TRIGGER LANGUAGE plpgsql AS $$
DECLARE
    of_job BIGINT;
BEGIN
    UPDATE listed_jobs SET texts = texts + 1 WHERE job_id = COALESCE(NEW.job_id, OLD.job_id) RETURNING number INTO of_job;
    IF of_job IS NULL THEN
        RETURN NULL;
    END IF;
    IF TG_OP = 'DELETE' THEN
        UPDATE listed_jobs SET texts = texts WHERE number = of_job;
    ELSE
        PERFORM index_message(of_job, NEW.position, NEW.prompt);
    END IF;
    RETURN NULL;
END $$;

-- To set `texts` to what it is indexes all messages of a job again.
CREATE OR REPLACE FUNCTION index_texts() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN
    DELETE FROM job_words WHERE number = NEW.number;
    DELETE FROM job_characters WHERE number = NEW.number;
    DELETE FROM follow_up_words WHERE number = NEW.number;
    DELETE FROM follow_up_characters WHERE number = NEW.number;
    UPDATE listed_jobs SET unspaced = 0 WHERE number = NEW.number AND unspaced = 1;
    PERFORM index_message(NEW.number, position, prompt) FROM messages WHERE job_id = NEW.job_id;
    RETURN NULL;
END $$;
DROP TRIGGER index_texts ON listed_jobs;
CREATE TRIGGER index_texts AFTER UPDATE OF texts ON listed_jobs FOR EACH ROW WHEN (NEW.texts = OLD.texts)
EXECUTE FUNCTION index_texts();

CREATE OR REPLACE FUNCTION unlist_words() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN
    DELETE FROM job_words WHERE number = OLD.number;
    DELETE FROM job_characters WHERE number = OLD.number;
    DELETE FROM follow_up_words WHERE number = OLD.number;
    DELETE FROM follow_up_characters WHERE number = OLD.number;
    RETURN NULL;
END $$;

-- What is read with each follow-up, without the texts of its job and of its author.
CREATE INDEX messages_of_job ON messages (job_id, state, position);
CREATE INDEX messages_queued_by_author ON messages (author_id) WHERE state = 'queued';

-- How far the texts of a table are normalized: up to this key.
CREATE TABLE normalized_texts (
    name TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    last TEXT COLLATE "C" NOT NULL
);
