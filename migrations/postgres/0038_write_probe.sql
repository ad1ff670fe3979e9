-- For a check after a failed write: a text is written here and removed again, to see whether larger writes succeed.
ALTER TABLE instances ADD COLUMN write_probe TEXT COLLATE "C";
-- Not compressed, so that the write has its size.
ALTER TABLE instances ALTER COLUMN write_probe SET STORAGE EXTERNAL;
