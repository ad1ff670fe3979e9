-- Counts the changes of a project's list of jobs: an open page compares one number to know whether it is still current.
CREATE TABLE project_changes (
    project  TEXT   NOT NULL PRIMARY KEY,
    revision BIGINT NOT NULL
);
INSERT INTO project_changes (project, revision) SELECT DISTINCT project, 1 FROM listed_jobs;

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
