-- Records: one row each, living or tombstone. Locks nothing that exists.
CREATE TABLE record (
    database_id       bigint      NOT NULL,
    zone_id           bigint      NOT NULL,
    change_number     bigint      NOT NULL,
    batch_end         bigint      NOT NULL,
    created_at        timestamptz NOT NULL,
    created_by        bigint      NOT NULL,
    modified_at       timestamptz NOT NULL,
    modified_by       bigint      NOT NULL,
    created_by_device uuid        NOT NULL,
    byte_count        integer     NOT NULL,
    is_deleted        boolean     NOT NULL,
    name              text        COLLATE "C" NOT NULL,
    type              text        COLLATE "C" NOT NULL,
    parent            text        COLLATE "C",
    fields            bytea       NOT NULL,
    PRIMARY KEY (database_id, zone_id, name)
);

-- The change feed of a zone is one range scan here; a repeated change moves the record's only entry (R-702).
CREATE UNIQUE INDEX record_changes ON record (database_id, zone_id, change_number);

-- Living children of a record (R-136).
CREATE INDEX record_parent ON record (database_id, zone_id, parent) WHERE parent IS NOT NULL AND NOT is_deleted;
