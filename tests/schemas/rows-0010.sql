-- What came with the schemas up to the tenth: tags, webhooks, templates, page views by day, notes, second factors.
INSERT INTO job_tags (job_id, folded, tag) VALUES ('019a0000-0000-7000-8000-000000000001', 'lamps', 'Lamps');
INSERT INTO templates (id, project, name, text, created_at, changed_at) VALUES
    ('019a0000-0000-7000-8000-000000000041', 'docs', 'Describe', 'Describe {{thing}}', 1762000000000, 1762000000000);
INSERT INTO webhooks (id, project, kind, address, secret, created_at) VALUES
    ('019a0000-0000-7000-8000-000000000051', 'docs', 'json', 'https://hooks.example.com/', 'a kept secret', 1762000000000);
INSERT INTO annotations (id, project, day, text, author_id, created_at, updated_at) VALUES
    ('019a0000-0000-7000-8000-000000000061', 'docs', '2025-11-01', 'A new lamp', '019a0000-0000-7000-8000-00000000000a', 1762000000000, 1762000000000);
INSERT INTO page_paths (id, project, path) VALUES (1, 'docs', '/guide');
INSERT INTO history_wanted (project, day, asked_at) VALUES ('docs', '2025-10-01', 1762000000000);
INSERT INTO upstream_pauses (scope, ends_at) VALUES ('creates:docs', 1762000200000);
