-- Renames tables and columns of the last schema before version 0.1.0.

ALTER TABLE sessions RENAME COLUMN address TO client_ip;
DROP INDEX sessions_of_person;
CREATE INDEX sessions_of_user ON sessions (user_id);

-- Outcomes of forms that wait during the upgrade are lost.
ALTER TABLE sessions ADD COLUMN flash_id TEXT;
ALTER TABLE sessions ADD COLUMN flash_message TEXT;
ALTER TABLE sessions ADD COLUMN flash_until BIGINT;
CREATE INDEX sessions_by_flash ON sessions (flash_until) WHERE flash_until IS NOT NULL;
DROP TABLE flash_messages;

ALTER TABLE invitations RENAME COLUMN held_at TO on_hold_since;

ALTER TABLE second_factors RENAME COLUMN wrong_in_row TO failures_in_row;
ALTER TABLE second_factors RENAME COLUMN wrong_untold TO unreported_failures;

DROP INDEX passkeys_of_person;
CREATE INDEX passkeys_of_user ON passkeys (user_id, created_at);

ALTER TABLE passkey_challenges RENAME COLUMN asker TO requester;
DROP INDEX passkey_challenges_of_asker;
CREATE INDEX passkey_challenges_of_requester ON passkey_challenges (requester, expires_at);

ALTER TABLE known_addresses RENAME TO known_clients;
ALTER TABLE known_clients RENAME COLUMN pair TO hash;
DROP INDEX known_addresses_by_age;
CREATE INDEX known_clients_by_age ON known_clients (seen_at);

ALTER TABLE jobs RENAME COLUMN read_at TO polled_at;
ALTER TABLE jobs RENAME COLUMN next_read_at TO next_poll_at;
ALTER TABLE jobs RENAME COLUMN followed_since TO tracked_since;
DROP INDEX jobs_to_read;
CREATE INDEX jobs_to_poll ON jobs (next_poll_at) WHERE next_poll_at IS NOT NULL;

ALTER TABLE messages RENAME COLUMN settled_at TO outcome_at;
ALTER TABLE messages RENAME COLUMN in_line TO in_queue;
ALTER TABLE messages RENAME COLUMN held_at TO on_hold_since;

ALTER TABLE looked_at RENAME TO seen_changes;

ALTER TABLE line_pauses RENAME TO queue_pauses;

ALTER TABLE webhooks RENAME COLUMN address TO url;

ALTER TABLE daily_views RENAME TO page_views;

ALTER TABLE history_days RENAME COLUMN read_at TO fetched_at;
ALTER TABLE history_days RENAME COLUMN agreed TO equal_fetches;
ALTER TABLE history_days RENAME COLUMN settled_at TO final_at;

ALTER TABLE history_reading RENAME TO partial_days;
ALTER TABLE partial_days RENAME COLUMN answer TO response;
ALTER TABLE partial_days RENAME COLUMN read_at TO fetched_at;

ALTER TABLE history_wanted RENAME TO requested_days;
ALTER TABLE requested_days RENAME COLUMN asked_at TO requested_at;

-- The audit event about removed rows names their tables.
UPDATE removed_rows SET name = 'page_views' WHERE name = 'daily_views';
UPDATE removed_rows SET name = 'requested_days' WHERE name = 'history_wanted';

ALTER TABLE audit RENAME COLUMN address TO client_ip;
ALTER TABLE audit_counts RENAME COLUMN address TO client_ip;
