-- PostgreSQL refuses a row whose value in a B-tree is longer than 2,704 bytes: a day with a long path was never written.
-- Tables: page_paths

-- `decode` is immutable, `convert_to` is not. It reads a backslash as the start of an escape.
CREATE UNIQUE INDEX page_paths_by_hash
    ON page_paths (project, sha256(decode(replace(path, '\', '\\'), 'escape')));
-- Finds a path, and the paths of a folder, of any length.
CREATE INDEX page_paths_by_path ON page_paths USING spgist (path);
-- Last: readers wait for it.
ALTER TABLE page_paths DROP CONSTRAINT page_paths_project_path_key;
