-- The schema that migrations 1 to 28 of SQLite add up to. What each table and column is for is said there.
--
-- Texts are compared and sorted by code point (COLLATE "C"), as SQLite does. Instants are milliseconds since 1970 in UTC, days
-- and states are texts, flags are 0 or 1.

CREATE TABLE users (
    id            TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    name          TEXT COLLATE "C" NOT NULL UNIQUE,
    role          TEXT COLLATE "C" NOT NULL,
    password_hash TEXT COLLATE "C" NOT NULL,
    created_at    BIGINT NOT NULL,
    disabled_at   BIGINT,
    projects      TEXT COLLATE "C",
    last_seen_at  BIGINT,
    session_stamp TEXT COLLATE "C" NOT NULL DEFAULT '',
    group_projects TEXT COLLATE "C"
);

CREATE TABLE sessions (
    id_hash      TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    data         TEXT COLLATE "C" NOT NULL,
    user_id      TEXT COLLATE "C",
    device       TEXT COLLATE "C" NOT NULL DEFAULT '',
    address      TEXT COLLATE "C" NOT NULL DEFAULT '',
    created_at   BIGINT NOT NULL,
    last_used_at BIGINT NOT NULL,
    expires_at   BIGINT NOT NULL
);
CREATE INDEX sessions_of_person ON sessions (user_id);

CREATE TABLE setup_links (
    token_hash TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    expires_at BIGINT NOT NULL
);

CREATE TABLE invitations (
    user_id    TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    token_hash TEXT COLLATE "C" NOT NULL UNIQUE,
    expires_at BIGINT NOT NULL
);

CREATE TABLE second_factors (
    user_id      TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES users (id),
    secret       TEXT COLLATE "C" NOT NULL,
    created_at   BIGINT NOT NULL,
    confirmed_at BIGINT,
    last_step    BIGINT NOT NULL,
    wrong_in_row BIGINT NOT NULL DEFAULT 0,
    wrong_untold BIGINT NOT NULL DEFAULT 0
);

CREATE TABLE recovery_codes (
    user_id   TEXT COLLATE "C" NOT NULL REFERENCES users (id),
    code_hash TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (user_id, code_hash)
);

CREATE TABLE sign_in_steps (
    token_hash    TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    user_id       TEXT COLLATE "C" NOT NULL REFERENCES users (id),
    session_stamp TEXT COLLATE "C" NOT NULL,
    next          TEXT COLLATE "C" NOT NULL,
    tries         BIGINT NOT NULL,
    expires_at    BIGINT NOT NULL
);

CREATE TABLE passkeys (
    id            TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    user_id       TEXT COLLATE "C" NOT NULL REFERENCES users (id),
    credential_id TEXT COLLATE "C" NOT NULL UNIQUE,
    name          TEXT COLLATE "C" NOT NULL,
    credential    TEXT COLLATE "C" NOT NULL,
    sign_count    BIGINT NOT NULL,
    created_at    BIGINT NOT NULL,
    last_used_at  BIGINT
);
CREATE INDEX passkeys_of_person ON passkeys (user_id, created_at);

CREATE TABLE passkey_challenges (
    token_hash TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    asker      TEXT COLLATE "C" NOT NULL,
    state      TEXT COLLATE "C" NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX passkey_challenges_of_asker ON passkey_challenges (asker, expires_at);
CREATE INDEX passkey_challenges_by_age ON passkey_challenges (expires_at);

CREATE TABLE identities (
    issuer  TEXT COLLATE "C" NOT NULL,
    subject TEXT COLLATE "C" NOT NULL,
    user_id TEXT COLLATE "C" NOT NULL UNIQUE REFERENCES users (id),
    PRIMARY KEY (issuer, subject)
);

CREATE TABLE batches (
    id          TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    project     TEXT COLLATE "C" NOT NULL,
    author_id   TEXT COLLATE "C" NOT NULL REFERENCES users (id),
    intent      TEXT COLLATE "C" NOT NULL,
    template    TEXT COLLATE "C" NOT NULL,
    list        TEXT COLLATE "C" NOT NULL,
    created_at  BIGINT NOT NULL,
    started_at  BIGINT,
    template_id TEXT COLLATE "C",
    UNIQUE (author_id, intent)
);

CREATE TABLE jobs (
    id                 TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    project            TEXT COLLATE "C" NOT NULL,
    state              TEXT COLLATE "C" NOT NULL,
    reason             TEXT COLLATE "C",
    created_at         BIGINT NOT NULL,
    changed_at         BIGINT NOT NULL,
    remote_id          TEXT COLLATE "C",
    remote_status      TEXT COLLATE "C",
    model              TEXT COLLATE "C",
    repository         TEXT COLLATE "C",
    git_ref            TEXT COLLATE "C",
    pr_link            TEXT COLLATE "C",
    remote_created_at  BIGINT,
    remote_archived_at BIGINT,
    next_read_at       BIGINT,
    followed_since     BIGINT,
    revision           BIGINT NOT NULL DEFAULT 0,
    batch_id           TEXT COLLATE "C" REFERENCES batches (id),
    archived_here_at   BIGINT,
    archived_by        TEXT COLLATE "C",
    missing_since      BIGINT,
    read_at            BIGINT,
    dismissed_at       BIGINT,
    dismissed_by       TEXT COLLATE "C"
);
CREATE INDEX jobs_of_project ON jobs (project, id);
CREATE INDEX jobs_by_state ON jobs (project, state, id);
CREATE INDEX jobs_by_change ON jobs (project, state, changed_at);
CREATE INDEX jobs_to_read ON jobs (next_read_at) WHERE next_read_at IS NOT NULL;
CREATE UNIQUE INDEX jobs_by_remote_id ON jobs (project, remote_id) WHERE remote_id IS NOT NULL;
CREATE INDEX jobs_of_batch ON jobs (batch_id) WHERE batch_id IS NOT NULL;

CREATE TABLE messages (
    id         TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    job_id     TEXT COLLATE "C" NOT NULL REFERENCES jobs (id),
    position   BIGINT NOT NULL,
    author_id  TEXT COLLATE "C" NOT NULL REFERENCES users (id),
    intent     TEXT COLLATE "C" NOT NULL,
    prompt     TEXT COLLATE "C" NOT NULL,
    state      TEXT COLLATE "C" NOT NULL,
    reason     TEXT COLLATE "C",
    created_at BIGINT NOT NULL,
    due_at     BIGINT NOT NULL,
    sent_at    BIGINT,
    settled_at BIGINT,
    in_line    BIGINT NOT NULL DEFAULT 0,
    rank       BIGINT NOT NULL DEFAULT 0,
    attempt    BIGINT NOT NULL DEFAULT 0,
    cancelled  BIGINT NOT NULL DEFAULT 0,
    held_at    BIGINT,
    UNIQUE (job_id, position),
    UNIQUE (author_id, intent)
);
CREATE INDEX messages_in_delivery ON messages (state, due_at) WHERE state IN ('queued', 'sending');

CREATE TABLE job_events (
    id       TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    job_id   TEXT COLLATE "C" NOT NULL REFERENCES jobs (id),
    position BIGINT NOT NULL,
    at       BIGINT NOT NULL,
    state    TEXT COLLATE "C" NOT NULL,
    detail   TEXT COLLATE "C"
);
CREATE INDEX job_events_of_job ON job_events (job_id, id);

CREATE TABLE job_paths (
    job_id TEXT COLLATE "C" NOT NULL REFERENCES jobs (id),
    path   TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (job_id, path)
);

CREATE TABLE job_tags (
    job_id TEXT COLLATE "C" NOT NULL REFERENCES jobs (id),
    folded TEXT COLLATE "C" NOT NULL,
    tag    TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (job_id, folded)
);

CREATE TABLE templates (
    id         TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    project    TEXT COLLATE "C" NOT NULL,
    name       TEXT COLLATE "C" NOT NULL,
    text       TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    changed_at BIGINT NOT NULL,
    UNIQUE (project, name)
);

CREATE TABLE job_templates (
    job_id      TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES jobs (id),
    template_id TEXT COLLATE "C" REFERENCES templates (id) ON DELETE SET NULL,
    name        TEXT COLLATE "C" NOT NULL
);
CREATE INDEX jobs_of_template ON job_templates (template_id) WHERE template_id IS NOT NULL;

CREATE TABLE drafts (
    user_id     TEXT COLLATE "C" NOT NULL REFERENCES users (id),
    project     TEXT COLLATE "C" NOT NULL,
    subject     TEXT COLLATE "C" NOT NULL,
    text        TEXT COLLATE "C" NOT NULL,
    updated_at  BIGINT NOT NULL,
    paths       TEXT COLLATE "C" NOT NULL DEFAULT '',
    template_id TEXT COLLATE "C" NOT NULL DEFAULT '',
    PRIMARY KEY (user_id, project, subject)
);
CREATE INDEX drafts_by_age ON drafts (updated_at);
CREATE INDEX drafts_of_job ON drafts (subject);

CREATE TABLE saved_views (
    id         TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    project    TEXT COLLATE "C" NOT NULL,
    owner_id   TEXT COLLATE "C" NOT NULL REFERENCES users (id),
    page       TEXT COLLATE "C" NOT NULL,
    name       TEXT COLLATE "C" NOT NULL,
    query      TEXT COLLATE "C" NOT NULL,
    shared     BIGINT NOT NULL DEFAULT 0,
    created_at BIGINT NOT NULL,
    UNIQUE (project, owner_id, page, name)
);

CREATE TABLE looked_at (
    user_id  TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    project  TEXT COLLATE "C" NOT NULL,
    everyone BIGINT NOT NULL,
    at       BIGINT NOT NULL,
    PRIMARY KEY (user_id, project, everyone)
);

CREATE TABLE upstream_calls (
    id    TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    scope TEXT COLLATE "C" NOT NULL,
    at    BIGINT NOT NULL
);
CREATE INDEX upstream_calls_in_scope ON upstream_calls (scope, at);

CREATE TABLE upstream_pauses (
    scope   TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    ends_at BIGINT NOT NULL
);

CREATE TABLE line_pauses (
    scope   TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    ends_at BIGINT NOT NULL
);

CREATE TABLE webhooks (
    id          TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    project     TEXT COLLATE "C" NOT NULL,
    kind        TEXT COLLATE "C" NOT NULL,
    address     TEXT COLLATE "C" NOT NULL,
    secret      TEXT COLLATE "C" NOT NULL,
    created_at  BIGINT NOT NULL,
    disabled_at BIGINT
);
CREATE INDEX webhooks_of_project ON webhooks (project);

CREATE TABLE webhook_deliveries (
    id          TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    webhook_id  TEXT COLLATE "C" NOT NULL REFERENCES webhooks (id),
    event       TEXT COLLATE "C" NOT NULL,
    at          BIGINT NOT NULL,
    job_id      TEXT COLLATE "C" REFERENCES jobs (id),
    title       TEXT COLLATE "C",
    author      TEXT COLLATE "C",
    job_state   TEXT COLLATE "C",
    pr_link     TEXT COLLATE "C",
    outcome     TEXT COLLATE "C" NOT NULL,
    attempts    BIGINT NOT NULL,
    tried_at    BIGINT,
    status      BIGINT,
    note        TEXT COLLATE "C",
    next_try_at BIGINT
);
CREATE INDEX webhook_deliveries_of_webhook ON webhook_deliveries (webhook_id, id);
CREATE INDEX webhook_deliveries_of_job ON webhook_deliveries (job_id) WHERE job_id IS NOT NULL;
CREATE INDEX webhook_deliveries_to_try ON webhook_deliveries (next_try_at) WHERE next_try_at IS NOT NULL;

CREATE TABLE page_paths (
    id      BIGINT NOT NULL GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    project TEXT COLLATE "C" NOT NULL,
    path    TEXT COLLATE "C" NOT NULL,
    -- As for SQLite, 9999-12-31 is unknown.
    seen_on TEXT COLLATE "C" NOT NULL DEFAULT '9999-12-31',
    UNIQUE (project, path)
);
CREATE INDEX page_paths_seen ON page_paths (project, seen_on);

CREATE TABLE daily_views (
    project TEXT COLLATE "C" NOT NULL,
    day     TEXT COLLATE "C" NOT NULL,
    version BIGINT NOT NULL DEFAULT 0,
    path_id BIGINT NOT NULL,
    human   BIGINT NOT NULL,
    ai      BIGINT NOT NULL,
    total   BIGINT NOT NULL,
    PRIMARY KEY (project, day, version, path_id)
);

CREATE TABLE history_days (
    project    TEXT COLLATE "C" NOT NULL,
    day        TEXT COLLATE "C" NOT NULL,
    human      BIGINT NOT NULL,
    ai         BIGINT NOT NULL,
    total      BIGINT NOT NULL,
    pages      BIGINT NOT NULL,
    digest     TEXT COLLATE "C" NOT NULL,
    read_at    BIGINT NOT NULL,
    agreed     BIGINT NOT NULL,
    settled_at BIGINT,
    mark       TEXT COLLATE "C",
    version    BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (project, day)
);

CREATE TABLE history_reading (
    project TEXT COLLATE "C" NOT NULL,
    day     TEXT COLLATE "C" NOT NULL,
    page    BIGINT NOT NULL,
    answer  TEXT COLLATE "C" NOT NULL,
    read_at BIGINT NOT NULL,
    PRIMARY KEY (project, day, page)
);

CREATE TABLE history_wanted (
    project  TEXT COLLATE "C" NOT NULL,
    day      TEXT COLLATE "C" NOT NULL,
    asked_at BIGINT NOT NULL,
    PRIMARY KEY (project, day)
);

CREATE TABLE history_lease (
    id      BIGINT NOT NULL PRIMARY KEY CHECK (id = 1),
    holder  TEXT COLLATE "C" NOT NULL,
    ends_at BIGINT NOT NULL
);

CREATE TABLE day_rollups (
    project TEXT COLLATE "C" NOT NULL,
    day     TEXT COLLATE "C" NOT NULL,
    digest  TEXT COLLATE "C" NOT NULL,
    pages   BYTEA NOT NULL,
    PRIMARY KEY (project, day)
);

CREATE TABLE annotations (
    id         TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    project    TEXT COLLATE "C" NOT NULL,
    day        TEXT COLLATE "C" NOT NULL,
    text       TEXT COLLATE "C" NOT NULL,
    author_id  TEXT COLLATE "C" NOT NULL REFERENCES users (id),
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE INDEX annotations_of_project ON annotations (project, day);

CREATE TABLE audit (
    number   BIGINT NOT NULL PRIMARY KEY,
    at       BIGINT NOT NULL,
    actor_id TEXT COLLATE "C" NOT NULL,
    actor    TEXT COLLATE "C" NOT NULL,
    address  TEXT COLLATE "C" NOT NULL,
    action   TEXT COLLATE "C" NOT NULL,
    outcome  TEXT COLLATE "C" NOT NULL,
    project  TEXT COLLATE "C" NOT NULL,
    subject  TEXT COLLATE "C" NOT NULL,
    detail   TEXT COLLATE "C" NOT NULL,
    previous TEXT COLLATE "C" NOT NULL UNIQUE,
    hash     TEXT COLLATE "C" NOT NULL UNIQUE
);
CREATE INDEX audit_of_actor ON audit (actor, number);
CREATE INDEX audit_of_action ON audit (action, actor_id, at);

CREATE TABLE audit_ends (
    name   TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    number BIGINT NOT NULL,
    hash   TEXT COLLATE "C" NOT NULL
);
INSERT INTO audit_ends (name, number, hash) VALUES
    ('removed', 0, '0000000000000000000000000000000000000000000000000000000000000000'),
    ('last', 0, '0000000000000000000000000000000000000000000000000000000000000000');

CREATE TABLE audit_counts (
    actor_id TEXT COLLATE "C" NOT NULL,
    actor    TEXT COLLATE "C" NOT NULL,
    action   TEXT COLLATE "C" NOT NULL,
    outcome  TEXT COLLATE "C" NOT NULL,
    project  TEXT COLLATE "C" NOT NULL,
    address  TEXT COLLATE "C" NOT NULL,
    since    BIGINT NOT NULL,
    count    BIGINT NOT NULL,
    PRIMARY KEY (actor_id, action, outcome, project, address)
);

CREATE TABLE removed_intents (
    author_id TEXT COLLATE "C" NOT NULL,
    intent    TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (author_id, intent)
);
CREATE TABLE removed_rows (
    name  TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    count BIGINT NOT NULL
);

CREATE TABLE listed_jobs (
    -- Given by the trigger, one more than the last: a sequence would not grow in the order of the commits.
    number     BIGINT NOT NULL PRIMARY KEY,
    project    TEXT COLLATE "C" NOT NULL,
    archived   BIGINT NOT NULL,
    state      TEXT COLLATE "C" NOT NULL,
    attention  BIGINT NOT NULL DEFAULT 0,
    has_pr     BIGINT NOT NULL,
    lost       BIGINT NOT NULL,
    unspaced   BIGINT NOT NULL DEFAULT 0,
    changed_at BIGINT NOT NULL,
    texts      BIGINT NOT NULL DEFAULT 0,
    author_id  TEXT COLLATE "C",
    job_id     TEXT COLLATE "C" NOT NULL UNIQUE,
    dismissed  BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX listed_unspaced ON listed_jobs (project, unspaced);
CREATE INDEX listed_in_order ON listed_jobs (project, archived, number, state, attention, has_pr, author_id);
CREATE INDEX listed_by_change
    ON listed_jobs (project, archived, changed_at, number, state, attention, has_pr, author_id);
CREATE INDEX listed_by_state ON listed_jobs (project, archived, state, attention, has_pr, author_id);
CREATE INDEX listed_needing ON listed_jobs (project, archived, number, state, has_pr, author_id) WHERE attention = 1;

CREATE TABLE job_counts (
    project   TEXT COLLATE "C" NOT NULL,
    archived  BIGINT NOT NULL,
    state     TEXT COLLATE "C" NOT NULL,
    attention BIGINT NOT NULL,
    has_pr    BIGINT NOT NULL,
    jobs      BIGINT NOT NULL,
    PRIMARY KEY (project, archived, state, attention, has_pr)
);

CREATE TABLE listed_labels (
    project TEXT COLLATE "C" NOT NULL,
    label   TEXT COLLATE "C" NOT NULL,
    number  BIGINT NOT NULL,
    PRIMARY KEY (project, label, number)
);

CREATE TABLE project_changes (
    project  TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    revision BIGINT NOT NULL
);

-- The words of a job's prompt and follow-ups under its number, and its whole text where it holds a script without spaces.
CREATE TABLE job_words (
    number BIGINT   NOT NULL PRIMARY KEY,
    words  TSVECTOR NOT NULL
);
CREATE INDEX job_words_by_word ON job_words USING gin (words);
CREATE TABLE job_characters (
    number BIGINT NOT NULL PRIMARY KEY,
    text   TEXT COLLATE "C" NOT NULL
);
CREATE INDEX job_characters_by_part ON job_characters USING gin (text gin_trgm_ops);

-- A text without case and without the diacritics of Latin letters, as SQLite's index has it.
CREATE FUNCTION docket_fold(given TEXT) RETURNS TEXT LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT REPLACE(
        LOWER(NORMALIZE(
            REGEXP_REPLACE(NORMALIZE(given, NFD), '([A-Za-z])[\u0300-\u036f]+', '\1', 'g'), NFC) COLLATE "und-x-icu"),
        'ς', 'σ')
$$;

-- The words of a text in their order: runs of letters and numbers. No more of a very long one than an index can hold.
CREATE FUNCTION docket_lexemes(given TEXT) RETURNS TABLE (lexeme TEXT, place BIGINT)
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT LEFT(part, 500), ROW_NUMBER() OVER (ORDER BY at)
    FROM REGEXP_SPLIT_TO_TABLE(docket_fold(given) COLLATE "und-x-icu",
        '[^[:alnum:]\u00b2\u00b3\u00b9\u00bc-\u00be\u2070-\u2089\u2150-\u2189\u2460-\u249b\u24ea-\u24ff\u2776-\u2793]+'
    ) WITH ORDINALITY AS parts (part, at)
    WHERE part <> ''
$$;

CREATE FUNCTION docket_words(given TEXT) RETURNS TSVECTOR LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT COALESCE(STRING_AGG('''' || lexeme || ''':' || place, ' '), '')::TSVECTOR FROM docket_lexemes(given)
$$;

-- All of several phrases, which CHR(31) separates; a phrase is words next to each other. The last word of one that ends with
-- CHR(30) may be the beginning of one.
CREATE FUNCTION docket_query(given TEXT) RETURNS TSQUERY LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT COALESCE(STRING_AGG('(' || phrase || ')', ' & '), '')::TSQUERY FROM (
        SELECT (
            SELECT STRING_AGG(
                '''' || lexeme || '''' || CASE WHEN RIGHT(part, 1) = CHR(30) AND place = places THEN ':*' ELSE '' END,
                ' <-> ' ORDER BY place)
            FROM (SELECT lexeme, place, COUNT(*) OVER () AS places FROM docket_lexemes(part)) words
        ) AS phrase
        FROM (SELECT DISTINCT part FROM STRING_TO_TABLE(given, CHR(31)) AS all_parts (part)) parts
    ) phrases WHERE phrase IS NOT NULL
$$;

-- A pattern for LIKE … ESCAPE '!' that holds for what contains the text.
CREATE FUNCTION docket_part(given TEXT) RETURNS TEXT LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT '%' || REPLACE(REPLACE(REPLACE(docket_fold(given), '!', '!!'), '%', '!%'), '_', '!_') || '%'
$$;

CREATE FUNCTION list_job() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN
    -- Writers take turns, so that nobody else takes the same number.
    INSERT INTO listed_jobs (number, job_id, project, archived, state, has_pr, lost, changed_at)
    SELECT COALESCE((SELECT MAX(number) FROM listed_jobs), 0) + 1, NEW.id, NEW.project,
        (NEW.archived_here_at IS NOT NULL)::INT, NEW.state, (NEW.pr_link IS NOT NULL)::INT,
        (COALESCE(NEW.remote_status, '') IN ('not found', 'no end'))::INT, NEW.changed_at;
    RETURN NULL;
END $$;
CREATE TRIGGER list_job AFTER INSERT ON jobs FOR EACH ROW EXECUTE FUNCTION list_job();

CREATE FUNCTION relist_job() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN
    UPDATE listed_jobs SET archived = (NEW.archived_here_at IS NOT NULL)::INT, dismissed = (NEW.dismissed_at IS NOT NULL)::INT,
        state = NEW.state, has_pr = (NEW.pr_link IS NOT NULL)::INT,
        lost = (COALESCE(NEW.remote_status, '') IN ('not found', 'no end'))::INT, changed_at = NEW.changed_at
    WHERE job_id = NEW.id;
    RETURN NULL;
END $$;
CREATE TRIGGER relist_job AFTER UPDATE OF archived_here_at, dismissed_at, state, pr_link, remote_status, changed_at ON jobs
FOR EACH ROW EXECUTE FUNCTION relist_job();

CREATE FUNCTION unlist_job() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN
    DELETE FROM listed_jobs WHERE job_id = OLD.id;
    RETURN NULL;
END $$;
CREATE TRIGGER unlist_job AFTER DELETE ON jobs FOR EACH ROW EXECUTE FUNCTION unlist_job();
CREATE FUNCTION unlist_words() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN
    DELETE FROM job_words WHERE number = OLD.number;
    DELETE FROM job_characters WHERE number = OLD.number;
    RETURN NULL;
END $$;
CREATE TRIGGER unlist_words AFTER DELETE ON listed_jobs FOR EACH ROW EXECUTE FUNCTION unlist_words();

-- Changes are added up, because the triggers of one change come in no certain order.
CREATE FUNCTION count_jobs() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN
    IF TG_OP <> 'INSERT' THEN
        INSERT INTO job_counts (project, archived, state, attention, has_pr, jobs)
        VALUES (OLD.project, OLD.archived, OLD.state, OLD.attention, OLD.has_pr, -1)
        ON CONFLICT (project, archived, state, attention, has_pr) DO UPDATE SET jobs = job_counts.jobs + excluded.jobs;
    END IF;
    IF TG_OP <> 'DELETE' THEN
        INSERT INTO job_counts (project, archived, state, attention, has_pr, jobs)
        VALUES (NEW.project, NEW.archived, NEW.state, NEW.attention, NEW.has_pr, 1)
        ON CONFLICT (project, archived, state, attention, has_pr) DO UPDATE SET jobs = job_counts.jobs + excluded.jobs;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER count_job AFTER INSERT ON listed_jobs FOR EACH ROW EXECUTE FUNCTION count_jobs();
CREATE TRIGGER recount_job AFTER UPDATE OF archived, state, attention, has_pr ON listed_jobs FOR EACH ROW
WHEN ((NEW.archived, NEW.state, NEW.attention, NEW.has_pr) IS DISTINCT FROM (OLD.archived, OLD.state, OLD.attention, OLD.has_pr))
EXECUTE FUNCTION count_jobs();
CREATE TRIGGER uncount_job AFTER DELETE ON listed_jobs FOR EACH ROW EXECUTE FUNCTION count_jobs();

CREATE FUNCTION list_author() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN
    UPDATE listed_jobs SET author_id = NEW.author_id WHERE job_id = NEW.job_id;
    RETURN NULL;
END $$;
CREATE TRIGGER list_author AFTER INSERT ON messages FOR EACH ROW WHEN (NEW.position = 0) EXECUTE FUNCTION list_author();

CREATE FUNCTION list_text() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN
    UPDATE listed_jobs SET texts = texts + 1 WHERE job_id = COALESCE(NEW.job_id, OLD.job_id);
    RETURN NULL;
END $$;
CREATE TRIGGER list_text AFTER INSERT ON messages FOR EACH ROW EXECUTE FUNCTION list_text();
CREATE TRIGGER relist_text AFTER UPDATE OF prompt ON messages FOR EACH ROW EXECUTE FUNCTION list_text();
CREATE TRIGGER unlist_text AFTER DELETE ON messages FOR EACH ROW EXECUTE FUNCTION list_text();

-- The ranges: Thai and Lao, Myanmar, Khmer, the scripts of China, Japan and Korea, and their further planes.
CREATE FUNCTION index_texts() RETURNS TRIGGER LANGUAGE plpgsql AS $$
DECLARE
    whole TEXT;
    is_unspaced BIGINT;
BEGIN
    SELECT STRING_AGG(prompt, CHR(10) ORDER BY position) INTO whole FROM messages WHERE job_id = NEW.job_id;
    is_unspaced := (COALESCE(whole, '') COLLATE "C" ~
        '[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\ua4cf\uac00-\ud7ff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff]'
    )::INT;
    UPDATE listed_jobs SET unspaced = is_unspaced WHERE number = NEW.number;
    DELETE FROM job_words WHERE number = NEW.number;
    DELETE FROM job_characters WHERE number = NEW.number;
    IF whole IS NULL THEN
        RETURN NULL;
    END IF;
    BEGIN
        INSERT INTO job_words (number, words) VALUES (NEW.number, docket_words(whole));
    EXCEPTION WHEN program_limit_exceeded THEN
        -- More different words than one entry can hold: those of the beginning.
        INSERT INTO job_words (number, words) VALUES (NEW.number, docket_words(LEFT(whole, 100000)));
    END;
    IF is_unspaced = 1 THEN
        INSERT INTO job_characters (number, text) VALUES (NEW.number, docket_fold(whole));
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER index_texts AFTER UPDATE OF texts ON listed_jobs FOR EACH ROW EXECUTE FUNCTION index_texts();

CREATE FUNCTION label_page() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO listed_labels (project, label, number)
    SELECT project, NEW.path, number FROM listed_jobs WHERE job_id = NEW.job_id ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;
CREATE TRIGGER label_page AFTER INSERT ON job_paths FOR EACH ROW EXECUTE FUNCTION label_page();

CREATE FUNCTION unlabel_page() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN
    DELETE FROM listed_labels WHERE label = OLD.path
        AND (project, number) IN (SELECT project, number FROM listed_jobs WHERE job_id = OLD.job_id);
    RETURN NULL;
END $$;
CREATE TRIGGER unlabel_page AFTER DELETE ON job_paths FOR EACH ROW EXECUTE FUNCTION unlabel_page();

CREATE FUNCTION label_tag() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO listed_labels (project, label, number)
    SELECT project, NEW.folded, number FROM listed_jobs WHERE job_id = NEW.job_id ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;
CREATE TRIGGER label_tag AFTER INSERT ON job_tags FOR EACH ROW EXECUTE FUNCTION label_tag();

CREATE FUNCTION unlabel_tag() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN
    DELETE FROM listed_labels WHERE label = OLD.folded
        AND (project, number) IN (SELECT project, number FROM listed_jobs WHERE job_id = OLD.job_id);
    RETURN NULL;
END $$;
CREATE TRIGGER unlabel_tag AFTER DELETE ON job_tags FOR EACH ROW EXECUTE FUNCTION unlabel_tag();

CREATE FUNCTION count_change() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO project_changes (project, revision) VALUES (COALESCE(NEW.project, OLD.project), 1)
    ON CONFLICT (project) DO UPDATE SET revision = project_changes.revision + 1;
    RETURN NULL;
END $$;
CREATE TRIGGER count_listed AFTER INSERT ON listed_jobs FOR EACH ROW EXECUTE FUNCTION count_change();
CREATE TRIGGER count_relisted
AFTER UPDATE OF archived, state, attention, has_pr, lost, texts, changed_at, author_id ON listed_jobs FOR EACH ROW
WHEN ((NEW.archived, NEW.state, NEW.attention, NEW.has_pr, NEW.lost, NEW.texts, NEW.changed_at, NEW.author_id)
    IS DISTINCT FROM (OLD.archived, OLD.state, OLD.attention, OLD.has_pr, OLD.lost, OLD.texts, OLD.changed_at, OLD.author_id))
EXECUTE FUNCTION count_change();
CREATE TRIGGER count_unlisted AFTER DELETE ON listed_jobs FOR EACH ROW EXECUTE FUNCTION count_change();
CREATE TRIGGER count_labeled AFTER INSERT ON listed_labels FOR EACH ROW EXECUTE FUNCTION count_change();
CREATE TRIGGER count_unlabeled AFTER DELETE ON listed_labels FOR EACH ROW EXECUTE FUNCTION count_change();

CREATE FUNCTION sessions_end_with_stamp() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN
    DELETE FROM sessions WHERE user_id = NEW.id;
    RETURN NULL;
END $$;
CREATE TRIGGER sessions_end_with_stamp AFTER UPDATE OF session_stamp ON users FOR EACH ROW
EXECUTE FUNCTION sessions_end_with_stamp();

CREATE FUNCTION invitation_ends_with_password() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN
    DELETE FROM invitations WHERE user_id = NEW.id;
    RETURN NULL;
END $$;
CREATE TRIGGER invitation_ends_with_password AFTER UPDATE OF password_hash ON users FOR EACH ROW
EXECUTE FUNCTION invitation_ends_with_password();

-- Refuses a change of the audit log, with the trigger's argument as the reason.
CREATE FUNCTION refuse_audit_change() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN
    RAISE EXCEPTION '%', TG_ARGV[0];
END $$;
CREATE TRIGGER audit_rows_stay_as_they_are BEFORE UPDATE ON audit FOR EACH ROW
EXECUTE FUNCTION refuse_audit_change('the audit log cannot be changed');
CREATE TRIGGER audit_ends_stay BEFORE DELETE ON audit_ends FOR EACH ROW
EXECUTE FUNCTION refuse_audit_change('the ends of the audit log stay');
CREATE TRIGGER audit_ends_are_two BEFORE INSERT ON audit_ends FOR EACH ROW
EXECUTE FUNCTION refuse_audit_change('the audit log has two ends');
-- SQLite has no such statement.
CREATE TRIGGER audit_is_not_emptied BEFORE TRUNCATE ON audit FOR EACH STATEMENT
EXECUTE FUNCTION refuse_audit_change('the audit log is only shortened by retention');

CREATE FUNCTION audit_rows_are_removed_by_retention_only() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN
    IF NOT EXISTS (SELECT 1 FROM audit_ends WHERE name = 'removed' AND number >= OLD.number) THEN
        RAISE EXCEPTION 'the audit log is only shortened by retention';
    END IF;
    RETURN OLD;
END $$;
CREATE TRIGGER audit_rows_are_removed_by_retention_only BEFORE DELETE ON audit FOR EACH ROW
EXECUTE FUNCTION audit_rows_are_removed_by_retention_only();

CREATE FUNCTION audit_rows_follow_the_last_one() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN
    IF NOT EXISTS (
        SELECT 1 FROM audit_ends WHERE name = 'last' AND number = NEW.number - 1 AND hash = NEW.previous) THEN
        RAISE EXCEPTION 'a row of the audit log follows the last one';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER audit_rows_follow_the_last_one BEFORE INSERT ON audit FOR EACH ROW
EXECUTE FUNCTION audit_rows_follow_the_last_one();

CREATE FUNCTION audit_ends_move_along_rows() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN
    IF NEW.name <> OLD.name OR NEW.number < OLD.number
        OR (NEW.number = OLD.number AND NEW.hash <> OLD.hash)
        OR (NEW.number > OLD.number
            AND NOT EXISTS (SELECT 1 FROM audit WHERE number = NEW.number AND hash = NEW.hash)) THEN
        RAISE EXCEPTION 'the ends of the audit log only move along its rows';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER audit_ends_move_along_rows BEFORE UPDATE ON audit_ends FOR EACH ROW
EXECUTE FUNCTION audit_ends_move_along_rows();
