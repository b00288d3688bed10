-- Assets that were uploaded, and which records name them. Locks nothing that exists.
-- A save that names an asset locks its row, and touches it; so does whoever collects what is no longer named.
CREATE TABLE asset (
    database_id bigint      NOT NULL,
    byte_count  bigint      NOT NULL,
    created_at  timestamptz NOT NULL,
    touched_at  timestamptz NOT NULL, -- last uploaded, asked for, named or no longer named: the grace time begins here
    sha256      bytea       NOT NULL CHECK (octet_length(sha256) = 32),
    PRIMARY KEY (database_id, sha256)
) WITH (fillfactor = 80);

-- Rows of zones that have ended count for nothing; they go with their asset.
CREATE TABLE asset_use (
    database_id bigint NOT NULL,
    zone_id     bigint NOT NULL,
    record_name text   COLLATE "C" NOT NULL,
    sha256      bytea  NOT NULL,
    PRIMARY KEY (database_id, sha256, zone_id, record_name)
);
