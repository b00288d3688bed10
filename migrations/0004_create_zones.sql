-- Zones, one row an incarnation, and what is remembered of requests. Locks nothing that exists.
-- The zone's row is the lock and the clock of all writes in it: change_number is in no index, and pages keep room, so that
-- counting on is a HOT update.
CREATE TABLE zone (
    database_id         bigint      NOT NULL,
    id                  bigint      GENERATED ALWAYS AS IDENTITY,
    change_number       bigint      NOT NULL DEFAULT 0,
    oldest_token_number bigint      NOT NULL DEFAULT 0,
    created_at          timestamptz NOT NULL,
    removed_at          timestamptz,
    removal             smallint    CHECK (removal IN (0, 1, 2)), -- 0 deleted, 1 purged, 2 keys reset; null: alive
    name                text        COLLATE "C" NOT NULL,
    PRIMARY KEY (database_id, id)
) WITH (fillfactor = 50);

-- One living incarnation a name.
CREATE UNIQUE INDEX zone_living ON zone (database_id, name) WHERE removal IS NULL;

-- For "why is it gone", and for clearing the records of zones that are gone.
CREATE INDEX zone_removed ON zone (database_id, name, id) WHERE removal IS NOT NULL;

-- Outcomes that a device may still ask for again: one row a device and zone; zone_id 0 stands for the database's own
-- requests (zones created and deleted).
CREATE TABLE request_memory (
    database_id bigint      NOT NULL,
    zone_id     bigint      NOT NULL,
    device_id   uuid        NOT NULL,
    updated_at  timestamptz NOT NULL,
    memory      bytea       NOT NULL,
    PRIMARY KEY (database_id, zone_id, device_id)
) WITH (fillfactor = 50);
