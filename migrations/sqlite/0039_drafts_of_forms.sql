-- Each draft has the form that saved it last, so that another tab does not replace a text that it never showed.
ALTER TABLE drafts ADD COLUMN intent TEXT NOT NULL DEFAULT '';
