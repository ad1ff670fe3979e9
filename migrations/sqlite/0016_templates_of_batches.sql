-- The template whose text a batch began with: its jobs count in the scorecard.
ALTER TABLE batches ADD COLUMN template_id TEXT;
