-- What a database of the first schema held: a person, a job that was accepted with a follow-up, one that waits, one that failed.
INSERT INTO users (id, name, role, password_hash, created_at) VALUES ('019a0000-0000-7000-8000-00000000000a', 'ada', 'admin', 'none', 1762000000000);
INSERT INTO users (id, name, role, password_hash, created_at) VALUES ('019a0000-0000-7000-8000-00000000000b', 'olga', 'operator', 'none', 1762000000000);
INSERT INTO jobs (id, project, state, created_at, changed_at, remote_id, remote_status, pr_link, remote_created_at) VALUES
    ('019a0000-0000-7000-8000-000000000001', 'docs', 'completed', 1762000100000, 1762000200000, 'r-1', 'completed', 'https://git.example.com/pull/1', 1762000100000);
INSERT INTO jobs (id, project, state, created_at, changed_at) VALUES ('019a0000-0000-7000-8000-000000000002', 'docs', 'queued', 1762000300000, 1762000300000);
INSERT INTO jobs (id, project, state, reason, created_at, changed_at) VALUES
    ('019a0000-0000-7000-8000-000000000003', 'docs', 'rejected', 'The platform refused it.', 1762000400000, 1762000400000);
INSERT INTO messages (id, job_id, position, author_id, intent, prompt, state, created_at, due_at, sent_at, settled_at) VALUES
    ('019a0000-0000-7000-8000-000000000011', '019a0000-0000-7000-8000-000000000001', 0, '019a0000-0000-7000-8000-00000000000b',
     '11111111-1111-4111-8111-111111111111', 'Describe the amber lantern at /guide', 'accepted', 1762000100000, 1762000100000, 1762000100000, 1762000100500);
INSERT INTO messages (id, job_id, position, author_id, intent, prompt, state, created_at, due_at, sent_at, settled_at) VALUES
    ('019a0000-0000-7000-8000-000000000012', '019a0000-0000-7000-8000-000000000001', 1, '019a0000-0000-7000-8000-00000000000b',
     '22222222-2222-4222-8222-222222222222', 'And its wick', 'accepted', 1762000150000, 1762000150000, 1762000150000, 1762000150500);
INSERT INTO messages (id, job_id, position, author_id, intent, prompt, state, created_at, due_at) VALUES
    ('019a0000-0000-7000-8000-000000000013', '019a0000-0000-7000-8000-000000000002', 0, '019a0000-0000-7000-8000-00000000000b',
     '33333333-3333-4333-8333-333333333333', 'Describe the quiet fjord', 'queued', 1762000300000, 9000000000000);
INSERT INTO messages (id, job_id, position, author_id, intent, prompt, state, reason, created_at, due_at, sent_at, settled_at) VALUES
    ('019a0000-0000-7000-8000-000000000014', '019a0000-0000-7000-8000-000000000003', 0, '019a0000-0000-7000-8000-00000000000a',
     '44444444-4444-4444-8444-444444444444', 'Describe nothing', 'rejected', 'The platform refused it.', 1762000400000, 1762000400000, 1762000400000, 1762000400500);
INSERT INTO job_events (id, job_id, position, at, state, detail) VALUES
    ('019a0000-0000-7000-8000-000000000021', '019a0000-0000-7000-8000-000000000001', 0, 1762000100000, 'queued', NULL);
INSERT INTO job_events (id, job_id, position, at, state, detail) VALUES
    ('019a0000-0000-7000-8000-000000000022', '019a0000-0000-7000-8000-000000000001', 0, 1762000100500, 'accepted', NULL);
INSERT INTO upstream_calls (id, scope, at) VALUES ('019a0000-0000-7000-8000-000000000031', 'creates:docs', 1762000100000);
