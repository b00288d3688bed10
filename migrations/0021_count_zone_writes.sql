-- How many transactions have written in a zone, whatever they wrote there: what a server knows of a zone it knows for as long
-- as this has not moved. 0 is a zone in which nobody has written yet; those that are there begin with 1, because what was
-- written in them is not known. Adds a column with a constant, for which `zone` is locked for a moment.
ALTER TABLE zone ADD COLUMN write_number bigint NOT NULL DEFAULT 1;
ALTER TABLE zone ALTER COLUMN write_number SET DEFAULT 0;
