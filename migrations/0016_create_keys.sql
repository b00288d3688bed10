-- Keys of encrypted values (R-067, R-068). Locks account and store for a moment: new columns with constant defaults
-- rewrite nothing.
-- Which master key closes what is in escrow: the first 16 bytes of a SHA-256 of it. Null: none yet.
ALTER TABLE store ADD COLUMN master_key_check bytea;

ALTER TABLE account ADD COLUMN encryption_mode smallint NOT NULL DEFAULT 1
    CHECK (encryption_mode IN (1, 2)); -- 1 escrowed, 2 end-to-end

-- A user's account key: its id, and in escrow the key itself, closed by the master key.
CREATE TABLE account_key (
    user_id    bigint      PRIMARY KEY REFERENCES container_user (id),
    created_at timestamptz NOT NULL,
    id         bytea       NOT NULL,
    escrow     bytea
);

-- Keys of one life of a zone, closed by its owner's account key; numbered from 1, the last one is in use.
CREATE TABLE zone_key (
    database_id    bigint      NOT NULL,
    zone_id        bigint      NOT NULL,
    number         integer     NOT NULL,
    created_at     timestamptz NOT NULL,
    id             bytea       NOT NULL,
    account_key_id bytea       NOT NULL,
    wrapped        bytea       NOT NULL,
    PRIMARY KEY (database_id, zone_id, number)
);
