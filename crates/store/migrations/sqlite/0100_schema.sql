-- The schema of version 0.1.0.
--
-- Times are milliseconds since 1970 in UTC, days are texts such as 2026-11-25, flags are 0 or 1. Tokens and session ids are stored
-- as hashes.
--
-- Numbers below 100 belong to schemas before the first release.

-- People and how they sign in.

CREATE TABLE users (
    id             TEXT   NOT NULL PRIMARY KEY,
    name           TEXT   NOT NULL UNIQUE,
    role           TEXT   NOT NULL,
    password_hash  TEXT   NOT NULL,
    created_at     BIGINT NOT NULL,
    disabled_at    BIGINT,
    last_seen_at   BIGINT,
    -- Changes when all sessions of the user end. A session or sign-in with another stamp is not valid.
    session_stamp  TEXT   NOT NULL DEFAULT '',
    -- 'selected': the projects in `projects` and `group_projects`.
    project_access TEXT   NOT NULL DEFAULT 'selected' CHECK (project_access IN ('all', 'selected')),
    -- Ids of projects, separated by commas.
    projects       TEXT,
    -- The projects of the user's groups at the identity provider or proxy, in the same form; * is every project.
    group_projects TEXT
);

CREATE TABLE sessions (
    -- A copy of the database opens no session, because it has only hashes of the ids.
    id_hash       TEXT   NOT NULL PRIMARY KEY,
    data          TEXT   NOT NULL,
    -- NULL before the sign-in.
    user_id       TEXT,
    device        TEXT   NOT NULL DEFAULT '',
    client_ip     TEXT   NOT NULL DEFAULT '',
    created_at    BIGINT NOT NULL,
    last_used_at  BIGINT NOT NULL,
    expires_at    BIGINT NOT NULL,
    -- The outcome of a plain form, until the next page: the hash of the browser's cookie, the message in JSON, and its end.
    flash_id      TEXT,
    flash_message TEXT,
    flash_until   BIGINT
);
CREATE INDEX sessions_by_flash ON sessions (flash_until) WHERE flash_until IS NOT NULL;
CREATE INDEX sessions_of_user ON sessions (user_id);

-- Links that create the first administrator. Each is valid once.
CREATE TABLE setup_links (
    token_hash TEXT   NOT NULL PRIMARY KEY,
    expires_at BIGINT NOT NULL
);

-- Links with which invited people choose a password. A user with one has not signed in yet.
CREATE TABLE invitations (
    user_id       TEXT   NOT NULL PRIMARY KEY,
    token_hash    TEXT   NOT NULL UNIQUE,
    expires_at    BIGINT NOT NULL,
    invited_by    TEXT,
    -- Since when the link does not work, because its author was disabled or demoted; NULL: it works.
    on_hold_since BIGINT
);

-- Links with which people set a new password. An administrator creates one; it is valid once.
CREATE TABLE password_links (
    user_id    TEXT   NOT NULL PRIMARY KEY,
    token_hash TEXT   NOT NULL UNIQUE,
    expires_at BIGINT NOT NULL,
    -- The id of the administrator.
    made_by    TEXT   NOT NULL
);

CREATE TABLE second_factors (
    user_id             TEXT   NOT NULL PRIMARY KEY REFERENCES users (id),
    -- In clear text, because codes are computed from it.
    secret              TEXT   NOT NULL,
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
    user_id   TEXT NOT NULL REFERENCES users (id),
    code_hash TEXT NOT NULL,
    PRIMARY KEY (user_id, code_hash)
);

-- Sign-ins with a correct password that wait for the second factor.
CREATE TABLE sign_in_steps (
    token_hash    TEXT   NOT NULL PRIMARY KEY,
    user_id       TEXT   NOT NULL REFERENCES users (id),
    session_stamp TEXT   NOT NULL,
    next          TEXT   NOT NULL,
    tries         BIGINT NOT NULL,
    expires_at    BIGINT NOT NULL
);

CREATE TABLE passkeys (
    id            TEXT   NOT NULL PRIMARY KEY,
    user_id       TEXT   NOT NULL REFERENCES users (id),
    -- The authenticator's id of the credential, in base64url.
    credential_id TEXT   NOT NULL UNIQUE,
    -- The user's name for it.
    name          TEXT   NOT NULL,
    -- The public key and other data for the verification, in JSON.
    credential    TEXT   NOT NULL,
    -- The authenticator's number of signatures at the last use; 0 if it does not count them.
    sign_count    BIGINT NOT NULL,
    created_at    BIGINT NOT NULL,
    last_used_at  BIGINT
);
CREATE INDEX passkeys_of_user ON passkeys (user_id, created_at);

-- Each challenge is removed when its response arrives, so it is used once.
CREATE TABLE passkey_challenges (
    token_hash TEXT   NOT NULL PRIMARY KEY,
    -- A user's id, or the network of an anonymous client. Limits the number of challenges.
    requester  TEXT   NOT NULL,
    -- The purpose and the data for the verification, in JSON.
    state      TEXT   NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX passkey_challenges_of_requester ON passkey_challenges (requester, expires_at);
CREATE INDEX passkey_challenges_by_age ON passkey_challenges (expires_at);

-- Users of an OpenID Connect provider. Issuer and subject identify the person; names can change.
CREATE TABLE identities (
    issuer  TEXT NOT NULL,
    subject TEXT NOT NULL,
    user_id TEXT NOT NULL UNIQUE REFERENCES users (id),
    PRIMARY KEY (issuer, subject)
);

-- Limits of sign-in attempts, shared by all processes. Each kind of limit has a fixed number of cells.
CREATE TABLE rate_limits (
    cell       TEXT   NOT NULL PRIMARY KEY,
    -- The attempts so far use the limit until this time.
    used_until BIGINT NOT NULL
);

-- Hashes of users with the IP addresses from which they signed in lately.
CREATE TABLE known_clients (
    hash    TEXT   NOT NULL PRIMARY KEY,
    seen_at BIGINT NOT NULL
);
CREATE INDEX known_clients_by_age ON known_clients (seen_at);

-- Keys of the hashes, so that nobody can choose a cell.
CREATE TABLE shared_secrets (
    name   TEXT NOT NULL PRIMARY KEY,
    secret TEXT NOT NULL
);

-- Jobs and the texts that are sent to the platform.

-- One template text and a list of values, from which many jobs are created. No job exists before the start.
CREATE TABLE batches (
    id          TEXT   NOT NULL PRIMARY KEY,
    project     TEXT   NOT NULL,
    author_id   TEXT   NOT NULL REFERENCES users (id),
    intent      TEXT   NOT NULL,
    template    TEXT   NOT NULL,
    list        TEXT   NOT NULL,
    created_at  BIGINT NOT NULL,
    started_at  BIGINT,
    -- The stored template that the text comes from.
    template_id TEXT,
    name        TEXT,
    UNIQUE (author_id, intent)
);
CREATE INDEX started_batches ON batches (project, started_at, id) WHERE started_at IS NOT NULL;

CREATE TABLE jobs (
    id                 TEXT   NOT NULL PRIMARY KEY,
    project            TEXT   NOT NULL,
    state              TEXT   NOT NULL,
    reason             TEXT,
    created_at         BIGINT NOT NULL,
    changed_at         BIGINT NOT NULL,
    -- The platform's data; NULL until it accepted the job.
    remote_id          TEXT,
    remote_status      TEXT,
    model              TEXT,
    repository         TEXT,
    git_ref            TEXT,
    pr_link            TEXT,
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
    batch_id           TEXT   REFERENCES batches (id),
    -- Archived in Docket; the platform is not notified.
    archived_here_at   BIGINT,
    archived_by        TEXT,
    dismissed_at       BIGINT,
    dismissed_by       TEXT,
    -- The job that this one runs again.
    retry_of           TEXT,
    -- The retry that opened a pull request, until the job changes again.
    resolved_by        TEXT
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
    id            TEXT   NOT NULL PRIMARY KEY,
    job_id        TEXT   NOT NULL REFERENCES jobs (id),
    position      BIGINT NOT NULL,
    author_id     TEXT   NOT NULL REFERENCES users (id),
    intent        TEXT   NOT NULL,
    prompt        TEXT   NOT NULL,
    state         TEXT   NOT NULL,
    reason        TEXT,
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
    sender        TEXT,
    UNIQUE (job_id, position),
    UNIQUE (author_id, intent)
);
CREATE INDEX messages_in_delivery ON messages (state, due_at) WHERE state IN ('queued', 'sending');
CREATE INDEX messages_of_job ON messages (job_id, state, position);
CREATE INDEX messages_queued_by_author ON messages (author_id) WHERE state = 'queued';
CREATE INDEX messages_not_sent ON messages (author_id, created_at) WHERE state IN ('cancelled', 'rejected');

-- The timeline.
CREATE TABLE job_events (
    id       TEXT   NOT NULL PRIMARY KEY,
    job_id   TEXT   NOT NULL REFERENCES jobs (id),
    position BIGINT NOT NULL,
    at       BIGINT NOT NULL,
    state    TEXT   NOT NULL,
    detail   TEXT
);
CREATE INDEX job_events_of_job ON job_events (job_id, id);

CREATE TABLE job_paths (
    job_id TEXT NOT NULL REFERENCES jobs (id),
    path   TEXT NOT NULL,
    PRIMARY KEY (job_id, path)
);

CREATE TABLE job_tags (
    job_id TEXT NOT NULL REFERENCES jobs (id),
    -- In lower case: a job has each tag once.
    folded TEXT NOT NULL,
    tag    TEXT NOT NULL,
    PRIMARY KEY (job_id, folded)
);

CREATE TABLE templates (
    id         TEXT   NOT NULL PRIMARY KEY,
    project    TEXT   NOT NULL,
    name       TEXT   NOT NULL,
    text       TEXT   NOT NULL,
    created_at BIGINT NOT NULL,
    changed_at BIGINT NOT NULL,
    UNIQUE (project, name)
);

-- The template that a job began with. Its name stays after the template is deleted.
CREATE TABLE job_templates (
    job_id      TEXT NOT NULL PRIMARY KEY REFERENCES jobs (id),
    template_id TEXT REFERENCES templates (id) ON DELETE SET NULL,
    name        TEXT NOT NULL
);
CREATE INDEX jobs_of_template ON job_templates (template_id) WHERE template_id IS NOT NULL;

-- Texts of forms that were not sent yet.
CREATE TABLE drafts (
    user_id     TEXT   NOT NULL REFERENCES users (id),
    project     TEXT   NOT NULL,
    -- The job of a follow-up, or the form for a new job.
    subject     TEXT   NOT NULL,
    text        TEXT   NOT NULL,
    updated_at  BIGINT NOT NULL,
    paths       TEXT   NOT NULL DEFAULT '',
    template_id TEXT   NOT NULL DEFAULT '',
    -- The form that saved it last, so that another tab does not replace a text that it never showed.
    intent      TEXT   NOT NULL DEFAULT '',
    PRIMARY KEY (user_id, project, subject)
);
CREATE INDEX drafts_by_age ON drafts (updated_at);
CREATE INDEX drafts_of_job ON drafts (subject);

CREATE TABLE saved_views (
    id         TEXT   NOT NULL PRIMARY KEY,
    project    TEXT   NOT NULL,
    owner_id   TEXT   NOT NULL REFERENCES users (id),
    -- 'jobs' or 'analytics'.
    page       TEXT   NOT NULL,
    name       TEXT   NOT NULL,
    -- Known fields only, in a fixed order.
    query      TEXT   NOT NULL,
    shared     BIGINT NOT NULL DEFAULT 0,
    created_at BIGINT NOT NULL,
    UNIQUE (project, owner_id, page, name)
);

-- The changes that a user has seen in the notifications: everything before `at`, and what changed from `seen_from` to `seen_to`.
CREATE TABLE seen_changes (
    user_id   TEXT   NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    project   TEXT   NOT NULL,
    -- 1: the jobs of everyone; 0: those of the user.
    everyone  BIGINT NOT NULL,
    at        BIGINT NOT NULL,
    seen_from BIGINT NOT NULL DEFAULT 0,
    seen_to   BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (user_id, project, everyone)
);

-- Intents of jobs that retention removed. A form that is sent again starts nothing.
CREATE TABLE removed_intents (
    author_id TEXT NOT NULL,
    intent    TEXT NOT NULL,
    PRIMARY KEY (author_id, intent)
) WITHOUT ROWID;

-- How many rows of each table retention removed since the last audit event about it.
CREATE TABLE removed_rows (
    name  TEXT   NOT NULL PRIMARY KEY,
    count BIGINT NOT NULL
);

-- The job list and the search. Triggers write these tables.

-- One narrow row for each job, by which the list is filtered, sorted and counted. Numbers grow in the order of commits.
CREATE TABLE listed_jobs (
    number     INTEGER PRIMARY KEY,
    project    TEXT   NOT NULL,
    archived   BIGINT NOT NULL,
    state      TEXT   NOT NULL,
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
    author_id  TEXT,
    job_id     TEXT   NOT NULL UNIQUE,
    dismissed  BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX listed_in_order ON listed_jobs (project, archived, number, state, attention, has_pr, author_id);
CREATE INDEX listed_by_change
    ON listed_jobs (project, archived, changed_at, number, state, attention, has_pr, author_id);
CREATE INDEX listed_by_state ON listed_jobs (project, archived, state, attention, has_pr, author_id);
CREATE INDEX listed_needing ON listed_jobs (project, archived, number, state, has_pr, author_id) WHERE attention = 1;
CREATE INDEX listed_by_author ON listed_jobs (project, author_id, number);
CREATE INDEX listed_unspaced ON listed_jobs (project, unspaced);

-- Pages and tags of jobs. A page begins with a slash; a tag, in lower case, does not.
CREATE TABLE listed_labels (
    project TEXT   NOT NULL,
    label   TEXT   NOT NULL,
    number  BIGINT NOT NULL,
    PRIMARY KEY (project, label, number)
) WITHOUT ROWID;

-- The number of listed jobs of each kind.
CREATE TABLE job_counts (
    project   TEXT   NOT NULL,
    archived  BIGINT NOT NULL,
    state     TEXT   NOT NULL,
    attention BIGINT NOT NULL,
    has_pr    BIGINT NOT NULL,
    jobs      BIGINT NOT NULL,
    PRIMARY KEY (project, archived, state, attention, has_pr)
) WITHOUT ROWID;

-- Counts changes of a project's job list. An open page compares it, to see whether it is current.
CREATE TABLE project_changes (
    project  TEXT   NOT NULL PRIMARY KEY,
    revision BIGINT NOT NULL
);

-- The words of prompts under the number of their job. The index has no copy of the texts.
CREATE VIRTUAL TABLE job_words USING fts5 (
    text, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 2', prefix = '1 2'
);
-- Parts of words, for jobs whose texts have a script without spaces.
CREATE VIRTUAL TABLE job_characters USING fts5 (
    text, content = '', contentless_delete = 1, tokenize = 'trigram remove_diacritics 1'
);
-- The same for each follow-up, under the number of its job * 1048576 + its position. `job_words` has the follow-ups that were
-- indexed by versions before 0.1.0.
CREATE VIRTUAL TABLE follow_up_words USING fts5 (
    text, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 2', prefix = '1 2'
);
CREATE VIRTUAL TABLE follow_up_characters USING fts5 (
    text, content = '', contentless_delete = 1, tokenize = 'trigram remove_diacritics 1'
);

-- How far the texts of a table are normalized: up to this key.
CREATE TABLE normalized_texts (
    name TEXT NOT NULL PRIMARY KEY,
    last TEXT NOT NULL
);

-- Calls of the platform.

-- Every call that counts in an hourly budget.
CREATE TABLE upstream_calls (
    id    TEXT   NOT NULL PRIMARY KEY,
    scope TEXT   NOT NULL,
    at    BIGINT NOT NULL
);
CREATE INDEX upstream_calls_in_scope ON upstream_calls (scope, at);

-- Budgets that the platform closed until a time (429 with Retry-After).
CREATE TABLE upstream_pauses (
    scope   TEXT   NOT NULL PRIMARY KEY,
    ends_at BIGINT NOT NULL
);

-- When the queue of a budget may send its next prompt.
CREATE TABLE queue_pauses (
    scope   TEXT   NOT NULL PRIMARY KEY,
    ends_at BIGINT NOT NULL
);

CREATE TABLE upstream_circuits (
    circuit  TEXT   NOT NULL PRIMARY KEY,
    -- In a row.
    failures BIGINT NOT NULL,
    -- When it opened, or when the last probe was sent; NULL: it is closed.
    tried_at BIGINT
);

-- The last outcomes of each operation.
CREATE TABLE upstream_outcomes (
    operation    TEXT NOT NULL PRIMARY KEY,
    succeeded_at BIGINT,
    failed_at    BIGINT,
    failure      TEXT
);

-- Webhooks.

CREATE TABLE webhooks (
    id          TEXT   NOT NULL PRIMARY KEY,
    project     TEXT   NOT NULL,
    kind        TEXT   NOT NULL,
    url         TEXT   NOT NULL,
    -- The key of the signature; empty if the kind has none.
    secret      TEXT   NOT NULL,
    created_at  BIGINT NOT NULL,
    disabled_at BIGINT
);
CREATE INDEX webhooks_of_project ON webhooks (project);

-- An event for one webhook. It is committed with the change that it reports, and sent later, at least once.
CREATE TABLE webhook_deliveries (
    id          TEXT   NOT NULL PRIMARY KEY,
    webhook_id  TEXT   NOT NULL REFERENCES webhooks (id),
    event       TEXT   NOT NULL,
    at          BIGINT NOT NULL,
    -- The job at that time; NULL in a test.
    job_id      TEXT   REFERENCES jobs (id),
    title       TEXT,
    author      TEXT,
    job_state   TEXT,
    pr_link     TEXT,
    outcome     TEXT   NOT NULL,
    attempts    BIGINT NOT NULL,
    tried_at    BIGINT,
    -- The receiver's last response: its status, and its text or the error.
    status      BIGINT,
    note        TEXT,
    -- NULL: it is not tried again.
    next_try_at BIGINT
);
CREATE INDEX webhook_deliveries_of_webhook ON webhook_deliveries (webhook_id, id);
CREATE INDEX webhook_deliveries_to_try ON webhook_deliveries (next_try_at) WHERE next_try_at IS NOT NULL;
CREATE INDEX webhook_deliveries_of_job ON webhook_deliveries (job_id) WHERE job_id IS NOT NULL;

-- Page views by day.

-- Rows of page views have the number of the path, because paths are long and repeat each day.
CREATE TABLE page_paths (
    id      INTEGER NOT NULL PRIMARY KEY,
    project TEXT    NOT NULL,
    path    TEXT    NOT NULL,
    -- The last day with a row of the path; 9999-12-31 if unknown.
    seen_on TEXT    NOT NULL DEFAULT '9999-12-31',
    UNIQUE (project, path)
);
CREATE INDEX page_paths_seen ON page_paths (project, seen_on);

-- The valid rows of a day have the version that `history_days` has; others are being written or removed. `path_id` is no foreign key:
-- to remove a path, the database would search all rows.
CREATE TABLE page_views (
    project TEXT   NOT NULL,
    day     TEXT   NOT NULL,
    -- 0 and 1 alternate.
    version BIGINT NOT NULL DEFAULT 0,
    path_id BIGINT NOT NULL,
    human   BIGINT NOT NULL,
    ai      BIGINT NOT NULL,
    total   BIGINT NOT NULL,
    PRIMARY KEY (project, day, version, path_id)
) WITHOUT ROWID;

-- The fetched days.
CREATE TABLE history_days (
    project       TEXT   NOT NULL,
    day           TEXT   NOT NULL,
    -- The platform's totals, which can differ from the sums of the rows.
    human         BIGINT NOT NULL,
    ai            BIGINT NOT NULL,
    total         BIGINT NOT NULL,
    pages         BIGINT NOT NULL,
    -- Equal for equal rows and totals.
    digest        TEXT   NOT NULL,
    fetched_at    BIGINT NOT NULL,
    -- How many successive fetches had the same digest.
    equal_fetches BIGINT NOT NULL,
    final_at      BIGINT,
    -- NULL, 'uneven' or 'recounted'.
    mark          TEXT,
    version       BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (project, day)
);

-- The responses of a day that is being fetched, so that a restarted process continues.
CREATE TABLE partial_days (
    project    TEXT   NOT NULL,
    day        TEXT   NOT NULL,
    page       BIGINT NOT NULL,
    -- Rows and totals in JSON.
    response   TEXT   NOT NULL,
    fetched_at BIGINT NOT NULL,
    PRIMARY KEY (project, day, page)
);

-- Days that a person requested. They are fetched first.
CREATE TABLE requested_days (
    project      TEXT   NOT NULL,
    day          TEXT   NOT NULL,
    requested_at BIGINT NOT NULL,
    PRIMARY KEY (project, day)
);

-- The process that fetches days, and until when unless it renews the lease.
CREATE TABLE history_lease (
    id      BIGINT NOT NULL PRIMARY KEY CHECK (id = 1),
    holder  TEXT   NOT NULL,
    ends_at BIGINT NOT NULL
);

-- All rows of a day in one value, from which ranges are summed. Valid if its digest is that of the day.
CREATE TABLE day_rollups (
    project TEXT NOT NULL,
    day     TEXT NOT NULL,
    digest  TEXT NOT NULL,
    pages   BLOB NOT NULL,
    PRIMARY KEY (project, day)
);

CREATE TABLE annotations (
    id         TEXT   NOT NULL PRIMARY KEY,
    project    TEXT   NOT NULL,
    day        TEXT   NOT NULL,
    text       TEXT   NOT NULL,
    author_id  TEXT   NOT NULL REFERENCES users (id),
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
    actor_id  TEXT   NOT NULL,
    -- The name at that time.
    actor     TEXT   NOT NULL,
    -- Empty if the action did not come over the network.
    client_ip TEXT   NOT NULL,
    action    TEXT   NOT NULL,
    outcome   TEXT   NOT NULL,
    -- Empty if the action concerns no project.
    project   TEXT   NOT NULL,
    -- The object of the action, such as a job's id or a user's name.
    subject   TEXT   NOT NULL,
    detail    TEXT   NOT NULL,
    -- The hash of the row before, and the hash of this row and that one. Unique, so that the chain has no fork.
    previous  TEXT   NOT NULL UNIQUE,
    hash      TEXT   NOT NULL UNIQUE
);
CREATE INDEX audit_of_actor ON audit (actor, number);
CREATE INDEX audit_of_action ON audit (action, actor_id, at);

-- The last row, and the last row that retention removed.
CREATE TABLE audit_ends (
    name   TEXT   NOT NULL PRIMARY KEY,
    number BIGINT NOT NULL,
    hash   TEXT   NOT NULL
);
INSERT INTO audit_ends (name, number, hash) VALUES
    ('removed', 0, '0000000000000000000000000000000000000000000000000000000000000000'),
    ('last', 0, '0000000000000000000000000000000000000000000000000000000000000000');

-- Frequent events, which are counted until one row records them.
CREATE TABLE audit_counts (
    actor_id  TEXT   NOT NULL,
    actor     TEXT   NOT NULL,
    action    TEXT   NOT NULL,
    outcome   TEXT   NOT NULL,
    -- Empty if there is none.
    project   TEXT   NOT NULL,
    -- Empty if there were too many IP addresses to count each.
    client_ip TEXT   NOT NULL,
    since     BIGINT NOT NULL,
    count     BIGINT NOT NULL,
    PRIMARY KEY (actor_id, action, outcome, project, client_ip)
);

-- The processes that use the database.

CREATE TABLE instances (
    id           TEXT   NOT NULL PRIMARY KEY,
    started_at   BIGINT NOT NULL,
    -- The last heartbeat.
    seen_at      BIGINT NOT NULL,
    -- Since when there was no gap between heartbeats.
    steady_since BIGINT NOT NULL,
    -- After a failed write, a text is stored here and removed again, to see whether larger writes succeed.
    write_probe  TEXT
);

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

-- Triggers.

-- Sessions and links that end with a change of their user.

CREATE TRIGGER sessions_end_with_stamp AFTER UPDATE OF session_stamp ON users BEGIN
    DELETE FROM sessions WHERE user_id = NEW.id;
END;
CREATE TRIGGER invitation_ends_with_password AFTER UPDATE OF password_hash ON users BEGIN
    DELETE FROM invitations WHERE user_id = NEW.id;
END;
CREATE TRIGGER password_link_ends_with_password AFTER UPDATE OF password_hash ON users BEGIN
    DELETE FROM password_links WHERE user_id = NEW.id;
END;

-- The job list.

CREATE TRIGGER list_job AFTER INSERT ON jobs BEGIN
    INSERT INTO listed_jobs (job_id, project, archived, state, has_pr, lost, changed_at)
    VALUES (new.id, new.project, new.archived_here_at IS NOT NULL, new.state, new.pr_link IS NOT NULL,
        COALESCE(new.remote_status, '') IN ('not found', 'no end'), new.changed_at);
END;
CREATE TRIGGER relist_job AFTER UPDATE OF archived_here_at, dismissed_at, state, pr_link, remote_status, changed_at ON jobs BEGIN
    UPDATE listed_jobs SET archived = new.archived_here_at IS NOT NULL, dismissed = new.dismissed_at IS NOT NULL,
        state = new.state, has_pr = new.pr_link IS NOT NULL,
        lost = COALESCE(new.remote_status, '') IN ('not found', 'no end'), changed_at = new.changed_at
    WHERE job_id = new.id;
END;
CREATE TRIGGER unlist_job AFTER DELETE ON jobs BEGIN
    DELETE FROM listed_jobs WHERE job_id = old.id;
END;
CREATE TRIGGER list_author AFTER INSERT ON messages WHEN new.position = 0 BEGIN
    UPDATE listed_jobs SET author_id = new.author_id WHERE job_id = new.job_id;
END;
CREATE TRIGGER label_page AFTER INSERT ON job_paths BEGIN
    INSERT INTO listed_labels (project, label, number)
    SELECT project, new.path, number FROM listed_jobs WHERE job_id = new.job_id ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER unlabel_page AFTER DELETE ON job_paths BEGIN
    DELETE FROM listed_labels WHERE label = old.path
        AND (project, number) IN (SELECT project, number FROM listed_jobs WHERE job_id = old.job_id);
END;
CREATE TRIGGER label_tag AFTER INSERT ON job_tags BEGIN
    INSERT INTO listed_labels (project, label, number)
    SELECT project, new.folded, number FROM listed_jobs WHERE job_id = new.job_id ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER unlabel_tag AFTER DELETE ON job_tags BEGIN
    DELETE FROM listed_labels WHERE label = old.folded
        AND (project, number) IN (SELECT project, number FROM listed_jobs WHERE job_id = old.job_id);
END;

-- Changes are summed, because the order of the triggers of one change is undefined.

CREATE TRIGGER count_job AFTER INSERT ON listed_jobs BEGIN
    INSERT INTO job_counts (project, archived, state, attention, has_pr, jobs)
    VALUES (new.project, new.archived, new.state, new.attention, new.has_pr, 1)
    ON CONFLICT (project, archived, state, attention, has_pr) DO UPDATE SET jobs = jobs + excluded.jobs;
END;
CREATE TRIGGER recount_job AFTER UPDATE OF archived, state, attention, has_pr ON listed_jobs
WHEN (new.archived, new.state, new.attention, new.has_pr) IS NOT (old.archived, old.state, old.attention, old.has_pr)
BEGIN
    INSERT INTO job_counts (project, archived, state, attention, has_pr, jobs)
    VALUES (old.project, old.archived, old.state, old.attention, old.has_pr, -1),
        (new.project, new.archived, new.state, new.attention, new.has_pr, 1)
    ON CONFLICT (project, archived, state, attention, has_pr) DO UPDATE SET jobs = jobs + excluded.jobs;
END;
CREATE TRIGGER uncount_job AFTER DELETE ON listed_jobs BEGIN
    INSERT INTO job_counts (project, archived, state, attention, has_pr, jobs)
    VALUES (old.project, old.archived, old.state, old.attention, old.has_pr, -1)
    ON CONFLICT (project, archived, state, attention, has_pr) DO UPDATE SET jobs = jobs + excluded.jobs;
END;

-- Revisions of the job list.

CREATE TRIGGER count_listed AFTER INSERT ON listed_jobs BEGIN
    INSERT INTO project_changes (project, revision) VALUES (new.project, 1)
    ON CONFLICT (project) DO UPDATE SET revision = revision + 1;
END;
CREATE TRIGGER count_relisted AFTER UPDATE OF archived, state, attention, has_pr, lost, texts, changed_at, author_id ON listed_jobs
WHEN (new.archived, new.state, new.attention, new.has_pr, new.lost, new.texts, new.changed_at, new.author_id)
    IS NOT (old.archived, old.state, old.attention, old.has_pr, old.lost, old.texts, old.changed_at, old.author_id)
BEGIN
    UPDATE project_changes SET revision = revision + 1 WHERE project = new.project;
END;
CREATE TRIGGER count_unlisted AFTER DELETE ON listed_jobs BEGIN
    UPDATE project_changes SET revision = revision + 1 WHERE project = old.project;
END;
CREATE TRIGGER count_labeled AFTER INSERT ON listed_labels BEGIN
    UPDATE project_changes SET revision = revision + 1 WHERE project = new.project;
END;
CREATE TRIGGER count_unlabeled AFTER DELETE ON listed_labels BEGIN
    UPDATE project_changes SET revision = revision + 1 WHERE project = old.project;
END;

-- The search index.

-- Messages with the numbers of their entries, and whether they have a script that is written without spaces between words: Thai and
-- Lao, Myanmar, Khmer, the scripts of China, Japan and Korea, and their further planes.
CREATE VIEW indexed_messages AS
SELECT m.id, m.job_id, m.position, m.prompt, l.number, l.number * 1048576 + m.position AS entry,
    m.prompt GLOB '*['
        || char(0x0e00) || '-' || char(0x0eff) || char(0x1000) || '-' || char(0x109f)
        || char(0x1780) || '-' || char(0x17ff) || char(0x2e80) || '-' || char(0xa4cf)
        || char(0xac00) || '-' || char(0xd7ff) || char(0xf900) || '-' || char(0xfaff)
        || char(0xff66) || '-' || char(0xff9f) || char(0x20000) || '-' || char(0x3ffff) || ']*' AS unspaced
FROM messages m JOIN listed_jobs l ON l.job_id = m.job_id WHERE m.position < 1048576;

-- Setting an entry to its own value indexes its message again.
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

-- Setting `texts` to its own value indexes all messages of a job again.
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

-- Rows of the audit log are only added. An end only moves forward, and only to an existing row.

CREATE TRIGGER audit_rows_stay_as_they_are BEFORE UPDATE ON audit
BEGIN
    SELECT RAISE(ABORT, 'the audit log cannot be changed');
END;
CREATE TRIGGER audit_rows_are_removed_by_retention_only BEFORE DELETE ON audit
WHEN NOT EXISTS (SELECT 1 FROM audit_ends WHERE name = 'removed' AND number >= OLD.number)
BEGIN
    SELECT RAISE(ABORT, 'the audit log is only shortened by retention');
END;
CREATE TRIGGER audit_rows_follow_the_last_one BEFORE INSERT ON audit
WHEN NOT EXISTS (
    SELECT 1 FROM audit_ends WHERE name = 'last' AND number = NEW.number - 1 AND hash = NEW.previous)
BEGIN
    SELECT RAISE(ABORT, 'a row of the audit log follows the last one');
END;
CREATE TRIGGER audit_ends_move_along_rows BEFORE UPDATE ON audit_ends
WHEN NEW.name <> OLD.name OR NEW.number < OLD.number
    OR (NEW.number = OLD.number AND NEW.hash <> OLD.hash)
    OR (NEW.number > OLD.number
        AND NOT EXISTS (SELECT 1 FROM audit WHERE number = NEW.number AND hash = NEW.hash))
BEGIN
    SELECT RAISE(ABORT, 'the ends of the audit log only move along its rows');
END;
CREATE TRIGGER audit_ends_stay BEFORE DELETE ON audit_ends
BEGIN
    SELECT RAISE(ABORT, 'the ends of the audit log stay');
END;
CREATE TRIGGER audit_ends_are_two BEFORE INSERT ON audit_ends
BEGIN
    SELECT RAISE(ABORT, 'the audit log has two ends');
END;
