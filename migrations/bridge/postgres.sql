-- Renames tables and columns of the last schema before version 0.1.0.

ALTER TABLE sessions RENAME COLUMN address TO client_ip;
ALTER INDEX sessions_of_person RENAME TO sessions_of_user;

-- Outcomes of forms that wait during the upgrade are lost.
ALTER TABLE sessions ADD COLUMN flash_id TEXT COLLATE "C";
ALTER TABLE sessions ADD COLUMN flash_message TEXT COLLATE "C";
ALTER TABLE sessions ADD COLUMN flash_until BIGINT;
CREATE INDEX sessions_by_flash ON sessions (flash_until) WHERE flash_until IS NOT NULL;
DROP TABLE flash_messages;

ALTER TABLE invitations RENAME COLUMN held_at TO on_hold_since;

ALTER TABLE second_factors RENAME COLUMN wrong_in_row TO failures_in_row;
ALTER TABLE second_factors RENAME COLUMN wrong_untold TO unreported_failures;

ALTER INDEX passkeys_of_person RENAME TO passkeys_of_user;

ALTER TABLE passkey_challenges RENAME COLUMN asker TO requester;
ALTER INDEX passkey_challenges_of_asker RENAME TO passkey_challenges_of_requester;

ALTER TABLE known_addresses RENAME TO known_clients;
ALTER INDEX known_addresses_pkey RENAME TO known_clients_pkey;
ALTER TABLE known_clients RENAME COLUMN pair TO hash;
ALTER INDEX known_addresses_by_age RENAME TO known_clients_by_age;

ALTER TABLE jobs RENAME COLUMN read_at TO polled_at;
ALTER TABLE jobs RENAME COLUMN next_read_at TO next_poll_at;
ALTER TABLE jobs RENAME COLUMN followed_since TO tracked_since;
ALTER INDEX jobs_to_read RENAME TO jobs_to_poll;

ALTER TABLE messages RENAME COLUMN settled_at TO outcome_at;
ALTER TABLE messages RENAME COLUMN in_line TO in_queue;
ALTER TABLE messages RENAME COLUMN held_at TO on_hold_since;

ALTER TABLE looked_at RENAME TO seen_changes;
ALTER INDEX looked_at_pkey RENAME TO seen_changes_pkey;
ALTER TABLE seen_changes RENAME CONSTRAINT looked_at_user_id_fkey TO seen_changes_user_id_fkey;

ALTER TABLE line_pauses RENAME TO queue_pauses;
ALTER INDEX line_pauses_pkey RENAME TO queue_pauses_pkey;

ALTER TABLE webhooks RENAME COLUMN address TO url;

ALTER TABLE daily_views RENAME TO page_views;
ALTER INDEX daily_views_pkey RENAME TO page_views_pkey;

ALTER TABLE history_days RENAME COLUMN read_at TO fetched_at;
ALTER TABLE history_days RENAME COLUMN agreed TO equal_fetches;
ALTER TABLE history_days RENAME COLUMN settled_at TO final_at;

ALTER TABLE history_reading RENAME TO partial_days;
ALTER INDEX history_reading_pkey RENAME TO partial_days_pkey;
ALTER TABLE partial_days RENAME COLUMN answer TO response;
ALTER TABLE partial_days RENAME COLUMN read_at TO fetched_at;

ALTER TABLE history_wanted RENAME TO requested_days;
ALTER INDEX history_wanted_pkey RENAME TO requested_days_pkey;
ALTER TABLE requested_days RENAME COLUMN asked_at TO requested_at;

-- The audit event about removed rows names their tables.
UPDATE removed_rows SET name = 'page_views' WHERE name = 'daily_views';
UPDATE removed_rows SET name = 'requested_days' WHERE name = 'history_wanted';

ALTER TABLE audit RENAME COLUMN address TO client_ip;
ALTER TABLE audit_counts RENAME COLUMN address TO client_ip;

-- One column of a function of the search has another name.
DROP FUNCTION docket_query(TEXT);
DROP FUNCTION docket_words(TEXT);
DROP FUNCTION docket_lexemes(TEXT);
CREATE FUNCTION docket_lexemes(given TEXT) RETURNS TABLE (lexeme TEXT, ordinal BIGINT)
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT LEFT(part, 500), ROW_NUMBER() OVER (ORDER BY at)
    FROM REGEXP_SPLIT_TO_TABLE(docket_fold(given) COLLATE "und-x-icu",
        '[^[:alnum:]\u00b2\u00b3\u00b9\u00bc-\u00be\u2070-\u2089\u2150-\u2189\u2460-\u249b\u24ea-\u24ff\u2776-\u2793]+'
    ) WITH ORDINALITY AS parts (part, at)
    WHERE part <> ''
$$;
CREATE FUNCTION docket_words(given TEXT) RETURNS TSVECTOR LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT COALESCE(STRING_AGG('''' || lexeme || ''':' || ordinal, ' '), '')::TSVECTOR FROM docket_lexemes(given)
$$;
CREATE FUNCTION docket_query(given TEXT) RETURNS TSQUERY LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT COALESCE(STRING_AGG('(' || phrase || ')', ' & '), '')::TSQUERY FROM (
        SELECT (
            SELECT STRING_AGG(
                '''' || lexeme || '''' || CASE WHEN RIGHT(part, 1) = CHR(30) AND ordinal = words THEN ':*' ELSE '' END,
                ' <-> ' ORDER BY ordinal)
            FROM (SELECT lexeme, ordinal, COUNT(*) OVER () AS words FROM docket_lexemes(part)) lexemes
        ) AS phrase
        FROM (SELECT DISTINCT part FROM STRING_TO_TABLE(given, CHR(31)) AS all_parts (part)) parts
    ) phrases WHERE phrase IS NOT NULL
$$;
