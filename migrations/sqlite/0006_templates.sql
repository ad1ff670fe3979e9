-- Texts with named places, from which jobs are started again and again.
CREATE TABLE templates (
    id         TEXT   NOT NULL PRIMARY KEY,
    project    TEXT   NOT NULL,
    name       TEXT   NOT NULL,
    text       TEXT   NOT NULL,
    created_at BIGINT NOT NULL,
    changed_at BIGINT NOT NULL,
    UNIQUE (project, name)
);

-- The template a job came from. Its name stays when the template goes; its text is the job's own from the start.
CREATE TABLE job_templates (
    job_id      TEXT NOT NULL PRIMARY KEY REFERENCES jobs (id),
    template_id TEXT REFERENCES templates (id) ON DELETE SET NULL,
    name        TEXT NOT NULL
);
CREATE INDEX jobs_of_template ON job_templates (template_id) WHERE template_id IS NOT NULL;

-- What changed lately, for jobs that resemble a prompt: asked at every pause of somebody's typing.
CREATE INDEX jobs_by_change ON jobs (project, state, changed_at);

-- Drafts are kept with what stands in the field for pages, and with the template they came from, be it gone or not.
ALTER TABLE drafts ADD COLUMN paths TEXT NOT NULL DEFAULT '';
ALTER TABLE drafts ADD COLUMN template_id TEXT NOT NULL DEFAULT '';
