-- A zone subscription names the life of a zone in which it fires (R-247): it ends with that one (R-030). Adds an empty
-- column, for which `subscription` is locked for a moment.
ALTER TABLE subscription ADD COLUMN zone_id bigint; -- null: of no zone in particular
