-- For a check after a failed write: a text is written here and removed again, to see whether larger writes succeed.
ALTER TABLE instances ADD COLUMN write_probe TEXT;
