-- Shares of whole zones (R-300 … R-334), and the addresses by which people are invited. The truth about who may do what is
-- in rows of the zone's owner, and changes under the lock of the zone's row. Locks nothing for long.

-- Shares and the secrets of their URLs. `number` is the change number of the zone at which the share was first saved.
CREATE TABLE share (
    database_id       bigint   NOT NULL,
    zone_id           bigint   NOT NULL,
    number            bigint   NOT NULL,
    ended_number      bigint,                     -- null: the share lives
    public_permission smallint NOT NULL CHECK (public_permission IN (1, 2, 3)), -- 1 none, 2 readOnly, 3 readWrite
    record_name       text     COLLATE "C" NOT NULL,
    PRIMARY KEY (database_id, zone_id, number)
);

CREATE UNIQUE INDEX share_living ON share (database_id, zone_id, record_name) WHERE ended_number IS NULL;

-- Who takes part, but for the owner. A share that ended keeps its rows, which grant nothing.
CREATE TABLE share_participant (
    database_id     bigint   NOT NULL,
    zone_id         bigint   NOT NULL,
    share_number    bigint   NOT NULL,
    id              uuid     NOT NULL,
    user_id         bigint,                       -- null: an address that nobody has used yet
    address         text     COLLATE "C",         -- as it was invited
    role            smallint NOT NULL CHECK (role IN (2, 3, 4)),       -- 2 administrator, 3 private user, 4 public user
    permission      smallint NOT NULL CHECK (permission IN (1, 2, 3)), -- of a public user not used: the share's holds
    status          smallint NOT NULL CHECK (status IN (1, 2, 3)),     -- 1 pending, 2 accepted, 3 removed
    accepted_number bigint,                       -- the change that gave access
    ended_number    bigint,                       -- the change that took it away
    added_at        timestamptz NOT NULL,
    PRIMARY KEY (database_id, zone_id, share_number, id)
);

CREATE UNIQUE INDEX share_participant_user ON share_participant (database_id, zone_id, share_number, user_id)
    WHERE user_id IS NOT NULL;

-- The secret of the URL of a zone's shares: whoever stops sharing and shares again has the same URL (R-306).
CREATE TABLE share_link (
    database_id bigint NOT NULL,
    zone_id     bigint NOT NULL,
    secret      bytea  NOT NULL,
    PRIMARY KEY (database_id, zone_id)
);

-- Where a URL leads, by the SHA-256 of its secret. It grants nothing, and is written before the share.
CREATE TABLE share_link_target (
    secret_hash       bytea       PRIMARY KEY,
    owner_database_id bigint      NOT NULL,
    zone_id           bigint      NOT NULL,
    made_at           timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX share_link_target_zone ON share_link_target (owner_database_id, zone_id);

-- The zones in the list of a user's shared database. It grants nothing, and is written before the acceptance.
CREATE TABLE shared_zone (
    database_id       bigint      NOT NULL,
    owner_database_id bigint      NOT NULL,
    zone_id           bigint      NOT NULL,
    pointed_at        timestamptz NOT NULL DEFAULT now(), -- the last time
    zone_name         text        COLLATE "C" NOT NULL,   -- never changes
    PRIMARY KEY (database_id, zone_id)
);

-- The name of a zone of another owner, whose row may be forgotten before every device has heard of its end. Null: of the
-- viewer's own zones. Locks `feed_entry` for a moment.
ALTER TABLE feed_entry ADD COLUMN zone_name text COLLATE "C";

-- Verified addresses of accounts: 1 e-mail addresses in lower case, 2 telephone numbers as + and digits.
CREATE TABLE account_address (
    kind        smallint    NOT NULL CHECK (kind IN (1, 2)),
    address     text        COLLATE "C" NOT NULL,
    account_id  bigint      NOT NULL REFERENCES account (id),
    verified_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (kind, address)
);

CREATE INDEX account_address_account ON account_address (account_id);
