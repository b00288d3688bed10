-- What queries find records by, computed by the server and null for records that no query needs to find (R-186). Indexes on
-- it are made while a server runs, one for what is asked for. Locks record and record_field for a moment: new columns without
-- values, or with a constant one, rewrite nothing.
ALTER TABLE record ADD COLUMN index_values jsonb;

-- The version of the schemas with which a field got its type and marks: who fills in values by an older one does not say
-- that they are ready.
ALTER TABLE record_field ADD COLUMN marked_at_version bigint NOT NULL DEFAULT 0;
