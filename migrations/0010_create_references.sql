-- Who wishes to be deleted with whom: deleteSelf references alone (R-133), so that other records cost no row here. Adds a
-- column to container, which takes a short exclusive lock on that small table, and blocks saves with assets while an index
-- is built.
CREATE TABLE record_reference (
    database_id bigint NOT NULL,
    zone_id     bigint NOT NULL,
    target      text   COLLATE "C" NOT NULL, -- a record's name; it need not exist (R-078)
    holder      text   COLLATE "C" NOT NULL,
    PRIMARY KEY (database_id, zone_id, target, holder)
);

-- What a record held, when it changes or is deleted.
CREATE INDEX record_reference_holder ON record_reference (database_id, zone_id, holder);

-- What a record named that a cascade deletes without its fields having been read (R-072).
CREATE INDEX asset_use_record ON asset_use (database_id, zone_id, record_name);

-- How many of them may point to one record (R-079); null: as many as the server allows.
ALTER TABLE container ADD COLUMN references_max integer CHECK (references_max > 0);
