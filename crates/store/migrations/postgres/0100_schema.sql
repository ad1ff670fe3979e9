-- The schema of version 0.1.0.
--
-- Times are milliseconds since 1970 in UTC, days are texts such as 2026-11-25, flags are 0 or 1. Texts are compared and sorted by
-- code point (COLLATE "C"), as in SQLite. Tokens and session ids are stored as hashes.
--
-- Numbers below 100 belong to schemas before the first release.

-- People and how they sign in.

CREATE TABLE users (
    id             TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    name           TEXT COLLATE "C" NOT NULL UNIQUE,
    role           TEXT COLLATE "C" NOT NULL,
    password_hash  TEXT COLLATE "C" NOT NULL,
    created_at     BIGINT NOT NULL,
    disabled_at    BIGINT,
    last_seen_at   BIGINT,
    -- Changes when all sessions of the user end. A session or sign-in with another stamp is not valid.
    session_stamp  TEXT COLLATE "C" NOT NULL DEFAULT '',
    -- 'selected': the projects in `projects` and `group_projects`.
    project_access TEXT COLLATE "C" NOT NULL DEFAULT 'selected' CHECK (project_access IN ('all', 'selected')),
    -- Ids of projects, separated by commas.
    projects       TEXT COLLATE "C",
    -- The projects of the user's groups at the identity provider or proxy, in the same form; * is every project.
    group_projects TEXT COLLATE "C"
);

CREATE TABLE sessions (
    -- A copy of the database opens no session, because it has only hashes of the ids.
    id_hash       TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    data          TEXT COLLATE "C" NOT NULL,
    -- NULL before the sign-in.
    user_id       TEXT COLLATE "C",
    device        TEXT COLLATE "C" NOT NULL DEFAULT '',
    client_ip     TEXT COLLATE "C" NOT NULL DEFAULT '',
    created_at    BIGINT NOT NULL,
    last_used_at  BIGINT NOT NULL,
    expires_at    BIGINT NOT NULL,
    -- The outcome of a plain form, until the next page: the hash of the browser's cookie, the message in JSON, and its end.
    flash_id      TEXT COLLATE "C",
    flash_message TEXT COLLATE "C",
    flash_until   BIGINT
);
CREATE INDEX sessions_by_flash ON sessions (flash_until) WHERE flash_until IS NOT NULL;
CREATE INDEX sessions_of_user ON sessions (user_id);

-- Links that create the first administrator. Each is valid once.
CREATE TABLE setup_links (
    token_hash TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    expires_at BIGINT NOT NULL
);

-- Links with which invited people choose a password. A user with one has not signed in yet.
CREATE TABLE invitations (
    user_id       TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    token_hash    TEXT COLLATE "C" NOT NULL UNIQUE,
    expires_at    BIGINT NOT NULL,
    invited_by    TEXT COLLATE "C",
    -- Since when the link does not work, because its author was disabled or demoted; NULL: it works.
    on_hold_since BIGINT
);

-- Links with which people set a new password. An administrator creates one; it is valid once.
CREATE TABLE password_links (
    user_id    TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    token_hash TEXT COLLATE "C" NOT NULL UNIQUE,
    expires_at BIGINT NOT NULL,
    -- The id of the administrator.
    made_by    TEXT COLLATE "C" NOT NULL
);

CREATE TABLE second_factors (
    user_id             TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES users (id),
    -- In clear text, because codes are computed from it.
    secret              TEXT COLLATE "C" NOT NULL,
    created_at          BIGINT NOT NULL,
    -- NULL: it is not required yet.
    confirmed_at        BIGINT,
    -- The time step of the last accepted code. Neither it nor an earlier one is accepted again.
    last_step           BIGINT NOT NULL,
    -- Wrong codes since the last accepted one.
    failures_in_row     BIGINT NOT NULL DEFAULT 0,
    -- Wrong codes that the user has not seen a notice of.
    unreported_failures BIGINT NOT NULL DEFAULT 0
);

-- Each code is valid once.
CREATE TABLE recovery_codes (
    user_id   TEXT COLLATE "C" NOT NULL REFERENCES users (id),
    code_hash TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (user_id, code_hash)
);

-- Sign-ins with a correct password that wait for the second factor.
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
    -- The authenticator's id of the credential, in base64url.
    credential_id TEXT COLLATE "C" NOT NULL UNIQUE,
    -- The user's name for it.
    name          TEXT COLLATE "C" NOT NULL,
    -- The public key and other data for the verification, in JSON.
    credential    TEXT COLLATE "C" NOT NULL,
    -- The authenticator's number of signatures at the last use; 0 if it does not count them.
    sign_count    BIGINT NOT NULL,
    created_at    BIGINT NOT NULL,
    last_used_at  BIGINT
);
CREATE INDEX passkeys_of_user ON passkeys (user_id, created_at);

-- Each challenge is removed when its response arrives, so it is used once.
CREATE TABLE passkey_challenges (
    token_hash TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    -- A user's id, or the network of an anonymous client. Limits the number of challenges.
    requester  TEXT COLLATE "C" NOT NULL,
    -- The purpose and the data for the verification, in JSON.
    state      TEXT COLLATE "C" NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX passkey_challenges_of_requester ON passkey_challenges (requester, expires_at);
CREATE INDEX passkey_challenges_by_age ON passkey_challenges (expires_at);

-- Users of an OpenID Connect provider. Issuer and subject identify the person; names can change.
CREATE TABLE identities (
    issuer  TEXT COLLATE "C" NOT NULL,
    subject TEXT COLLATE "C" NOT NULL,
    user_id TEXT COLLATE "C" NOT NULL UNIQUE REFERENCES users (id),
    PRIMARY KEY (issuer, subject)
);

-- Limits of sign-in attempts, shared by all processes. Each kind of limit has a fixed number of cells.
CREATE TABLE rate_limits (
    cell       TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    -- The attempts so far use the limit until this time.
    used_until BIGINT NOT NULL
);

-- Hashes of users with the IP addresses from which they signed in lately.
CREATE TABLE known_clients (
    hash    TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    seen_at BIGINT NOT NULL
);
CREATE INDEX known_clients_by_age ON known_clients (seen_at);

-- Keys of the hashes, so that nobody can choose a cell.
CREATE TABLE shared_secrets (
    name   TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    secret TEXT COLLATE "C" NOT NULL
);

-- Jobs and the texts that are sent to the platform.

-- One template text and a list of values, from which many jobs are created. No job exists before the start.
CREATE TABLE batches (
    id          TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    project     TEXT COLLATE "C" NOT NULL,
    author_id   TEXT COLLATE "C" NOT NULL REFERENCES users (id),
    intent      TEXT COLLATE "C" NOT NULL,
    template    TEXT COLLATE "C" NOT NULL,
    list        TEXT COLLATE "C" NOT NULL,
    created_at  BIGINT NOT NULL,
    started_at  BIGINT,
    -- The stored template that the text comes from.
    template_id TEXT COLLATE "C",
    name        TEXT COLLATE "C",
    UNIQUE (author_id, intent)
);
CREATE INDEX started_batches ON batches (project, started_at, id) WHERE started_at IS NOT NULL;

CREATE TABLE jobs (
    id                 TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    project            TEXT COLLATE "C" NOT NULL,
    state              TEXT COLLATE "C" NOT NULL,
    reason             TEXT COLLATE "C",
    created_at         BIGINT NOT NULL,
    changed_at         BIGINT NOT NULL,
    -- The platform's data; NULL until it accepted the job.
    remote_id          TEXT COLLATE "C",
    remote_status      TEXT COLLATE "C",
    model              TEXT COLLATE "C",
    repository         TEXT COLLATE "C",
    git_ref            TEXT COLLATE "C",
    pr_link            TEXT COLLATE "C",
    remote_created_at  BIGINT,
    remote_archived_at BIGINT,
    -- Since when the platform does not know the job; NULL: it knows it.
    missing_since      BIGINT,
    polled_at          BIGINT,
    -- NULL: not before something is sent.
    next_poll_at       BIGINT,
    -- The backoff of polls begins here.
    tracked_since      BIGINT,
    -- Counts deliveries, so that a poll that began before one does not overwrite its outcome.
    revision           BIGINT NOT NULL DEFAULT 0,
    batch_id           TEXT COLLATE "C" REFERENCES batches (id),
    -- Archived in Docket; the platform is not notified.
    archived_here_at   BIGINT,
    archived_by        TEXT COLLATE "C",
    dismissed_at       BIGINT,
    dismissed_by       TEXT COLLATE "C",
    -- The job that this one runs again.
    retry_of           TEXT COLLATE "C",
    -- The retry that opened a pull request, until the job changes again.
    resolved_by        TEXT COLLATE "C"
);
CREATE INDEX jobs_of_project ON jobs (project, id);
CREATE INDEX jobs_by_state ON jobs (project, state, id);
CREATE INDEX jobs_by_change ON jobs (project, state, changed_at);
CREATE INDEX jobs_to_poll ON jobs (next_poll_at) WHERE next_poll_at IS NOT NULL;
CREATE UNIQUE INDEX jobs_by_remote_id ON jobs (project, remote_id) WHERE remote_id IS NOT NULL;
CREATE INDEX jobs_of_remote_id ON jobs (remote_id) WHERE remote_id IS NOT NULL;
CREATE INDEX jobs_of_batch ON jobs (batch_id) WHERE batch_id IS NOT NULL;
CREATE INDEX jobs_by_retry ON jobs (retry_of) WHERE retry_of IS NOT NULL;
CREATE INDEX jobs_by_branch ON jobs (project, SUBSTR(LOWER(git_ref), 1, 200)) WHERE git_ref IS NOT NULL;
CREATE INDEX jobs_by_pull_request
    ON jobs (project, SUBSTR(RTRIM(pr_link, '/'), LENGTH(RTRIM(RTRIM(pr_link, '/'), '0123456789')) + 1, 10))
    WHERE pr_link IS NOT NULL;

-- A prompt (position 0) or a follow-up, and its delivery. The row is committed before anything is sent, and one process claims it.
CREATE TABLE messages (
    id            TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    job_id        TEXT COLLATE "C" NOT NULL REFERENCES jobs (id),
    position      BIGINT NOT NULL,
    author_id     TEXT COLLATE "C" NOT NULL REFERENCES users (id),
    intent        TEXT COLLATE "C" NOT NULL,
    prompt        TEXT COLLATE "C" NOT NULL,
    state         TEXT COLLATE "C" NOT NULL,
    reason        TEXT COLLATE "C",
    created_at    BIGINT NOT NULL,
    -- A queued message is not sent before this time.
    due_at        BIGINT NOT NULL,
    sent_at       BIGINT,
    outcome_at    BIGINT,
    -- 1: waits in the queue; 0: is sent as soon as the messages before it in its job have an outcome.
    in_queue      BIGINT NOT NULL DEFAULT 0,
    -- The order in the queue; smaller is sent first.
    rank          BIGINT NOT NULL DEFAULT 0,
    -- How often a person decided to send it again. A decision names the attempt, so it counts once.
    attempt       BIGINT NOT NULL DEFAULT 0,
    cancelled     BIGINT NOT NULL DEFAULT 0,
    -- Since when it is not sent, because its author was disabled or demoted; NULL: it is sent.
    on_hold_since BIGINT,
    -- The process that sends or sent it.
    sender        TEXT COLLATE "C",
    UNIQUE (job_id, position),
    UNIQUE (author_id, intent)
);
CREATE INDEX messages_in_delivery ON messages (state, due_at) WHERE state IN ('queued', 'sending');
CREATE INDEX messages_of_job ON messages (job_id, state, position);
CREATE INDEX messages_queued_by_author ON messages (author_id) WHERE state = 'queued';
CREATE INDEX messages_not_sent ON messages (author_id, created_at) WHERE state IN ('cancelled', 'rejected');

-- The timeline.
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
    -- In lower case: a job has each tag once.
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

-- The template that a job began with. Its name stays after the template is deleted.
CREATE TABLE job_templates (
    job_id      TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES jobs (id),
    template_id TEXT COLLATE "C" REFERENCES templates (id) ON DELETE SET NULL,
    name        TEXT COLLATE "C" NOT NULL
);
CREATE INDEX jobs_of_template ON job_templates (template_id) WHERE template_id IS NOT NULL;

-- Texts of forms that were not sent yet.
CREATE TABLE drafts (
    user_id     TEXT COLLATE "C" NOT NULL REFERENCES users (id),
    project     TEXT COLLATE "C" NOT NULL,
    -- The job of a follow-up, or the form for a new job.
    subject     TEXT COLLATE "C" NOT NULL,
    text        TEXT COLLATE "C" NOT NULL,
    updated_at  BIGINT NOT NULL,
    paths       TEXT COLLATE "C" NOT NULL DEFAULT '',
    template_id TEXT COLLATE "C" NOT NULL DEFAULT '',
    -- The form that saved it last, so that another tab does not replace a text that it never showed.
    intent      TEXT COLLATE "C" NOT NULL DEFAULT '',
    PRIMARY KEY (user_id, project, subject)
);
CREATE INDEX drafts_by_age ON drafts (updated_at);
CREATE INDEX drafts_of_job ON drafts (subject);

CREATE TABLE saved_views (
    id         TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    project    TEXT COLLATE "C" NOT NULL,
    owner_id   TEXT COLLATE "C" NOT NULL REFERENCES users (id),
    -- 'jobs' or 'analytics'.
    page       TEXT COLLATE "C" NOT NULL,
    name       TEXT COLLATE "C" NOT NULL,
    -- Known fields only, in a fixed order.
    query      TEXT COLLATE "C" NOT NULL,
    shared     BIGINT NOT NULL DEFAULT 0,
    created_at BIGINT NOT NULL,
    UNIQUE (project, owner_id, page, name)
);

-- The changes that a user has seen in the notifications: everything before `at`, and what changed from `seen_from` to `seen_to`.
CREATE TABLE seen_changes (
    user_id   TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    project   TEXT COLLATE "C" NOT NULL,
    -- 1: the jobs of everyone; 0: those of the user.
    everyone  BIGINT NOT NULL,
    at        BIGINT NOT NULL,
    seen_from BIGINT NOT NULL DEFAULT 0,
    seen_to   BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (user_id, project, everyone)
);

-- Intents of jobs that retention removed. A form that is sent again starts nothing.
CREATE TABLE removed_intents (
    author_id TEXT COLLATE "C" NOT NULL,
    intent    TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (author_id, intent)
);

-- How many rows of each table retention removed since the last audit event about it.
CREATE TABLE removed_rows (
    name  TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    count BIGINT NOT NULL
);

-- The job list and the search. Triggers write these tables.

-- One narrow row for each job, by which the list is filtered, sorted and counted. Numbers grow in the order of commits.
CREATE TABLE listed_jobs (
    -- Assigned by the trigger, one more than the last: a sequence would not grow in the order of commits.
    number     BIGINT NOT NULL PRIMARY KEY,
    project    TEXT COLLATE "C" NOT NULL,
    archived   BIGINT NOT NULL,
    state      TEXT COLLATE "C" NOT NULL,
    -- Whether it needs attention. `store::jobs::lifecycle` writes it.
    attention  BIGINT NOT NULL DEFAULT 0,
    has_pr     BIGINT NOT NULL,
    -- The platform does not know it any more, or Docket stopped tracking it.
    lost       BIGINT NOT NULL,
    -- Whether its texts have a script that is written without spaces between words.
    unspaced   BIGINT NOT NULL DEFAULT 0,
    changed_at BIGINT NOT NULL,
    -- Counts changes of its texts.
    texts      BIGINT NOT NULL DEFAULT 0,
    author_id  TEXT COLLATE "C",
    job_id     TEXT COLLATE "C" NOT NULL UNIQUE,
    dismissed  BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX listed_in_order ON listed_jobs (project, archived, number, state, attention, has_pr, author_id);
CREATE INDEX listed_by_change
    ON listed_jobs (project, archived, changed_at, number, state, attention, has_pr, author_id);
CREATE INDEX listed_by_state ON listed_jobs (project, archived, state, attention, has_pr, author_id);
CREATE INDEX listed_needing ON listed_jobs (project, archived, number, state, has_pr, author_id) WHERE attention = 1;
CREATE INDEX listed_by_author ON listed_jobs (project, author_id, number);
CREATE INDEX listed_unspaced ON listed_jobs (project, unspaced);
-- What a set of jobs (with a label, or found by a search) is filtered and counted by.
CREATE UNIQUE INDEX listed_by_number
    ON listed_jobs (number) INCLUDE (project, archived, state, attention, has_pr, author_id, changed_at, job_id);

-- Pages and tags of jobs. A page begins with a slash; a tag, in lower case, does not.
CREATE TABLE listed_labels (
    project TEXT COLLATE "C" NOT NULL,
    label   TEXT COLLATE "C" NOT NULL,
    number  BIGINT NOT NULL,
    PRIMARY KEY (project, label, number)
);

-- The number of listed jobs of each kind.
CREATE TABLE job_counts (
    project   TEXT COLLATE "C" NOT NULL,
    archived  BIGINT NOT NULL,
    state     TEXT COLLATE "C" NOT NULL,
    attention BIGINT NOT NULL,
    has_pr    BIGINT NOT NULL,
    jobs      BIGINT NOT NULL,
    PRIMARY KEY (project, archived, state, attention, has_pr)
);

-- Counts changes of a project's job list. An open page compares it, to see whether it is current.
CREATE TABLE project_changes (
    project  TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    revision BIGINT NOT NULL
);

-- The words of prompts under the number of their job, and the whole text if it has a script without spaces.
CREATE TABLE job_words (
    number BIGINT NOT NULL PRIMARY KEY,
    words  TSVECTOR NOT NULL
);
CREATE INDEX job_words_by_word ON job_words USING gin (words);
CREATE TABLE job_characters (
    number BIGINT NOT NULL PRIMARY KEY,
    text   TEXT COLLATE "C" NOT NULL
);
CREATE INDEX job_characters_by_part ON job_characters USING gin (text gin_trgm_ops);
-- The same for each follow-up. `job_words` has the follow-ups that were indexed by versions before 0.1.0.
CREATE TABLE follow_up_words (
    number   BIGINT NOT NULL,
    position BIGINT NOT NULL,
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

-- How far the texts of a table are normalized: up to this key.
CREATE TABLE normalized_texts (
    name TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    last TEXT COLLATE "C" NOT NULL
);

-- Calls of the platform.

-- Every call that counts in an hourly budget.
CREATE TABLE upstream_calls (
    id    TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    scope TEXT COLLATE "C" NOT NULL,
    at    BIGINT NOT NULL
);
CREATE INDEX upstream_calls_in_scope ON upstream_calls (scope, at);

-- Budgets that the platform closed until a time (429 with Retry-After).
CREATE TABLE upstream_pauses (
    scope   TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    ends_at BIGINT NOT NULL
);

-- When the queue of a budget may send its next prompt.
CREATE TABLE queue_pauses (
    scope   TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    ends_at BIGINT NOT NULL
);

CREATE TABLE upstream_circuits (
    circuit  TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    -- In a row.
    failures BIGINT NOT NULL,
    -- When it opened, or when the last probe was sent; NULL: it is closed.
    tried_at BIGINT
);

-- The last outcomes of each operation.
CREATE TABLE upstream_outcomes (
    operation    TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    succeeded_at BIGINT,
    failed_at    BIGINT,
    failure      TEXT COLLATE "C"
);

-- Webhooks.

CREATE TABLE webhooks (
    id          TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    project     TEXT COLLATE "C" NOT NULL,
    kind        TEXT COLLATE "C" NOT NULL,
    url         TEXT COLLATE "C" NOT NULL,
    -- The key of the signature; empty if the kind has none.
    secret      TEXT COLLATE "C" NOT NULL,
    created_at  BIGINT NOT NULL,
    disabled_at BIGINT
);
CREATE INDEX webhooks_of_project ON webhooks (project);

-- An event for one webhook. It is committed with the change that it reports, and sent later, at least once.
CREATE TABLE webhook_deliveries (
    id          TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    webhook_id  TEXT COLLATE "C" NOT NULL REFERENCES webhooks (id),
    event       TEXT COLLATE "C" NOT NULL,
    at          BIGINT NOT NULL,
    -- The job at that time; NULL in a test.
    job_id      TEXT COLLATE "C" REFERENCES jobs (id),
    title       TEXT COLLATE "C",
    author      TEXT COLLATE "C",
    job_state   TEXT COLLATE "C",
    pr_link     TEXT COLLATE "C",
    outcome     TEXT COLLATE "C" NOT NULL,
    attempts    BIGINT NOT NULL,
    tried_at    BIGINT,
    -- The receiver's last response: its status, and its text or the error.
    status      BIGINT,
    note        TEXT COLLATE "C",
    -- NULL: it is not tried again.
    next_try_at BIGINT
);
CREATE INDEX webhook_deliveries_of_webhook ON webhook_deliveries (webhook_id, id);
CREATE INDEX webhook_deliveries_to_try ON webhook_deliveries (next_try_at) WHERE next_try_at IS NOT NULL;
CREATE INDEX webhook_deliveries_of_job ON webhook_deliveries (job_id) WHERE job_id IS NOT NULL;

-- Page views by day.

-- Rows of page views have the number of the path, because paths are long and repeat each day.
CREATE TABLE page_paths (
    id      BIGINT NOT NULL GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    project TEXT COLLATE "C" NOT NULL,
    path    TEXT COLLATE "C" NOT NULL,
    -- The last day with a row of the path; 9999-12-31 if unknown.
    seen_on TEXT COLLATE "C" NOT NULL DEFAULT '9999-12-31',
    UNIQUE (project, path)
);
CREATE INDEX page_paths_seen ON page_paths (project, seen_on);

-- The valid rows of a day have the version that `history_days` has; others are being written or removed. `path_id` is no foreign key:
-- to remove a path, the database would search all rows.
CREATE TABLE page_views (
    project TEXT COLLATE "C" NOT NULL,
    day     TEXT COLLATE "C" NOT NULL,
    -- 0 and 1 alternate.
    version BIGINT NOT NULL DEFAULT 0,
    path_id BIGINT NOT NULL,
    human   BIGINT NOT NULL,
    ai      BIGINT NOT NULL,
    total   BIGINT NOT NULL,
    PRIMARY KEY (project, day, version, path_id)
);

-- The fetched days.
CREATE TABLE history_days (
    project       TEXT COLLATE "C" NOT NULL,
    day           TEXT COLLATE "C" NOT NULL,
    -- The platform's totals, which can differ from the sums of the rows.
    human         BIGINT NOT NULL,
    ai            BIGINT NOT NULL,
    total         BIGINT NOT NULL,
    pages         BIGINT NOT NULL,
    -- Equal for equal rows and totals.
    digest        TEXT COLLATE "C" NOT NULL,
    fetched_at    BIGINT NOT NULL,
    -- How many successive fetches had the same digest.
    equal_fetches BIGINT NOT NULL,
    final_at      BIGINT,
    -- NULL, 'uneven' or 'recounted'.
    mark          TEXT COLLATE "C",
    version       BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (project, day)
);

-- The responses of a day that is being fetched, so that a restarted process continues.
CREATE TABLE partial_days (
    project    TEXT COLLATE "C" NOT NULL,
    day        TEXT COLLATE "C" NOT NULL,
    page       BIGINT NOT NULL,
    -- Rows and totals in JSON.
    response   TEXT COLLATE "C" NOT NULL,
    fetched_at BIGINT NOT NULL,
    PRIMARY KEY (project, day, page)
);

-- Days that a person requested. They are fetched first.
CREATE TABLE requested_days (
    project      TEXT COLLATE "C" NOT NULL,
    day          TEXT COLLATE "C" NOT NULL,
    requested_at BIGINT NOT NULL,
    PRIMARY KEY (project, day)
);

-- The process that fetches days, and until when unless it renews the lease.
CREATE TABLE history_lease (
    id      BIGINT NOT NULL PRIMARY KEY CHECK (id = 1),
    holder  TEXT COLLATE "C" NOT NULL,
    ends_at BIGINT NOT NULL
);

-- All rows of a day in one value, from which ranges are summed. Valid if its digest is that of the day.
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

-- The audit log (docs/adr/0018-an-audit-log-that-shows-edits.md). It has no texts of people and no secrets.

CREATE TABLE audit (
    -- 1, 2, 3 and so on, without a gap.
    number    BIGINT NOT NULL PRIMARY KEY,
    at        BIGINT NOT NULL,
    -- Empty if the actor has no account.
    actor_id  TEXT COLLATE "C" NOT NULL,
    -- The name at that time.
    actor     TEXT COLLATE "C" NOT NULL,
    -- Empty if the action did not come over the network.
    client_ip TEXT COLLATE "C" NOT NULL,
    action    TEXT COLLATE "C" NOT NULL,
    outcome   TEXT COLLATE "C" NOT NULL,
    -- Empty if the action concerns no project.
    project   TEXT COLLATE "C" NOT NULL,
    -- The object of the action, such as a job's id or a user's name.
    subject   TEXT COLLATE "C" NOT NULL,
    detail    TEXT COLLATE "C" NOT NULL,
    -- The hash of the row before, and the hash of this row and that one. Unique, so that the chain has no fork.
    previous  TEXT COLLATE "C" NOT NULL UNIQUE,
    hash      TEXT COLLATE "C" NOT NULL UNIQUE
);
CREATE INDEX audit_of_actor ON audit (actor, number);
CREATE INDEX audit_of_action ON audit (action, actor_id, at);

-- The last row, and the last row that retention removed.
CREATE TABLE audit_ends (
    name   TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    number BIGINT NOT NULL,
    hash   TEXT COLLATE "C" NOT NULL
);
INSERT INTO audit_ends (name, number, hash) VALUES
    ('removed', 0, '0000000000000000000000000000000000000000000000000000000000000000'),
    ('last', 0, '0000000000000000000000000000000000000000000000000000000000000000');

-- Frequent events, which are counted until one row records them.
CREATE TABLE audit_counts (
    actor_id  TEXT COLLATE "C" NOT NULL,
    actor     TEXT COLLATE "C" NOT NULL,
    action    TEXT COLLATE "C" NOT NULL,
    outcome   TEXT COLLATE "C" NOT NULL,
    -- Empty if there is none.
    project   TEXT COLLATE "C" NOT NULL,
    -- Empty if there were too many IP addresses to count each.
    client_ip TEXT COLLATE "C" NOT NULL,
    since     BIGINT NOT NULL,
    count     BIGINT NOT NULL,
    PRIMARY KEY (actor_id, action, outcome, project, client_ip)
);

-- The processes that use the database.

CREATE TABLE instances (
    id           TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    started_at   BIGINT NOT NULL,
    -- The last heartbeat.
    seen_at      BIGINT NOT NULL,
    -- Since when there was no gap between heartbeats.
    steady_since BIGINT NOT NULL,
    -- After a failed write, a text is stored here and removed again, to see whether larger writes succeed.
    write_probe  TEXT COLLATE "C"
);
-- Not compressed, so that the write has its size.
ALTER TABLE instances ALTER COLUMN write_probe SET STORAGE EXTERNAL;

-- The clock as the heartbeats saw it. After it jumped ahead, no old data is removed until the time is confirmed.
CREATE TABLE clock_state (
    id            BIGINT NOT NULL PRIMARY KEY,
    -- The last heartbeat.
    seen_at       BIGINT NOT NULL,
    -- Since when heartbeats have been regular.
    regular_since BIGINT NOT NULL,
    -- The last heartbeat before the clock jumped ahead, while the clock is not trusted.
    jumped_from   BIGINT
);

-- Functions of the search.

-- A text without case and without the diacritics of Latin letters, as in the index of SQLite.
CREATE FUNCTION docket_fold(given TEXT) RETURNS TEXT LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT REPLACE(
        LOWER(NORMALIZE(
            REGEXP_REPLACE(NORMALIZE(given, NFD), '([A-Za-z])[\u0300-\u036f]+', '\1', 'g'), NFC) COLLATE "und-x-icu"),
        'ς', 'σ')
$$;

-- The words of a text in their order: runs of letters and numbers, at most 500 characters of each.
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

-- All of several phrases, separated by CHR(31); a phrase is successive words. If a phrase ends with CHR(30), its last word may be the
-- beginning of a word.
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

-- A pattern for LIKE … ESCAPE '!' that matches texts with this part.
CREATE FUNCTION docket_part(given TEXT) RETURNS TEXT LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT '%' || REPLACE(REPLACE(REPLACE(docket_fold(given), '!', '!!'), '%', '!%'), '_', '!_') || '%'
$$;

-- Whether a text has a script that is written without spaces between words: Thai and Lao, Myanmar, Khmer, the scripts of China, Japan
-- and Korea, and their further planes.
CREATE FUNCTION docket_is_unspaced(given TEXT) RETURNS BOOLEAN LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT given COLLATE "C" ~
        '[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\ua4cf\uac00-\ud7ff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff]'
$$;

-- Triggers.

-- Sessions and links that end with a change of their user.

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

CREATE FUNCTION password_link_ends_with_password() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN
    DELETE FROM password_links WHERE user_id = NEW.id;
    RETURN NULL;
END $$;
CREATE TRIGGER password_link_ends_with_password AFTER UPDATE OF password_hash ON users FOR EACH ROW
EXECUTE FUNCTION password_link_ends_with_password();

-- The job list.

CREATE FUNCTION list_job() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN
    -- Write transactions run one after another, so no other one assigns the same number.
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

CREATE FUNCTION list_author() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN
    UPDATE listed_jobs SET author_id = NEW.author_id WHERE job_id = NEW.job_id;
    RETURN NULL;
END $$;
CREATE TRIGGER list_author AFTER INSERT ON messages FOR EACH ROW WHEN (NEW.position = 0) EXECUTE FUNCTION list_author();

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

-- Changes are summed, because the order of the triggers of one change is undefined.
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

-- Revisions of the job list.
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

-- The search index.

-- Writes the entries of a message.
CREATE FUNCTION index_message(of_job BIGINT, at BIGINT, given TEXT) RETURNS VOID LANGUAGE plpgsql AS $$
DECLARE
    found TSVECTOR;
    is_unspaced BOOLEAN := docket_is_unspaced(given);
BEGIN
    BEGIN
        found := docket_words(given);
    EXCEPTION WHEN program_limit_exceeded THEN
        -- The text has more different words than an entry can have: index its beginning.
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

-- Setting `texts` to its own value indexes all messages of a job again.
CREATE FUNCTION index_texts() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN
    DELETE FROM job_words WHERE number = NEW.number;
    DELETE FROM job_characters WHERE number = NEW.number;
    DELETE FROM follow_up_words WHERE number = NEW.number;
    DELETE FROM follow_up_characters WHERE number = NEW.number;
    UPDATE listed_jobs SET unspaced = 0 WHERE number = NEW.number AND unspaced = 1;
    PERFORM index_message(NEW.number, position, prompt) FROM messages WHERE job_id = NEW.job_id;
    RETURN NULL;
END $$;
CREATE TRIGGER index_texts AFTER UPDATE OF texts ON listed_jobs FOR EACH ROW WHEN (NEW.texts = OLD.texts)
EXECUTE FUNCTION index_texts();

CREATE FUNCTION list_text() RETURNS TRIGGER LANGUAGE plpgsql AS $$
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
CREATE TRIGGER list_text AFTER INSERT ON messages FOR EACH ROW EXECUTE FUNCTION list_text();
CREATE TRIGGER relist_text AFTER UPDATE OF prompt ON messages FOR EACH ROW EXECUTE FUNCTION list_text();
CREATE TRIGGER unlist_text AFTER DELETE ON messages FOR EACH ROW EXECUTE FUNCTION list_text();

CREATE FUNCTION unlist_words() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN
    DELETE FROM job_words WHERE number = OLD.number;
    DELETE FROM job_characters WHERE number = OLD.number;
    DELETE FROM follow_up_words WHERE number = OLD.number;
    DELETE FROM follow_up_characters WHERE number = OLD.number;
    RETURN NULL;
END $$;
CREATE TRIGGER unlist_words AFTER DELETE ON listed_jobs FOR EACH ROW EXECUTE FUNCTION unlist_words();

-- Rows of the audit log are only added. An end only moves forward, and only to an existing row.

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
-- SQLite has no TRUNCATE.
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
