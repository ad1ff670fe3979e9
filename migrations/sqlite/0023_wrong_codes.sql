-- Wrong codes in a row: too many end the second step. And those that their owner was not told of yet.
ALTER TABLE second_factors ADD COLUMN wrong_in_row BIGINT NOT NULL DEFAULT 0;
ALTER TABLE second_factors ADD COLUMN wrong_untold BIGINT NOT NULL DEFAULT 0;
