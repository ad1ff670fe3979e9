-- Notifications that a person archived. A job is listed again when it changes.
-- Tables: none

CREATE TABLE archived_notifications (
    user_id TEXT   NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    job_id  TEXT   NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    at      BIGINT NOT NULL,
    PRIMARY KEY (user_id, job_id)
);
CREATE INDEX archived_notifications_of_job ON archived_notifications (job_id);
