-- Finds the page that a written path means, without slashes at the end and, for ASCII, without case.
-- Tables: page_paths
-- With the path: SQLite prefers an index that has all columns.
CREATE INDEX page_paths_by_spelling ON page_paths (project, LOWER(RTRIM(path, '/')), path);
