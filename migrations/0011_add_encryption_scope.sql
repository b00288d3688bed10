-- Whether a zone's records are encrypted one by one (0) or with their zone (1), chosen when it is created (R-035). Takes a
-- short exclusive lock on zone; rows are not rewritten.
ALTER TABLE zone ADD COLUMN encryption_scope smallint NOT NULL DEFAULT 0 CHECK (encryption_scope IN (0, 1));
