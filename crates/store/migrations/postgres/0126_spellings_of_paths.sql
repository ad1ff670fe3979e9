-- Finds the page that a written path means, without slashes at the end and, for ASCII, without case.
-- Tables: page_paths
-- By hash: a B-tree refuses long paths.
CREATE INDEX page_paths_by_spelling ON page_paths USING hash (LOWER(RTRIM(path, '/')));
