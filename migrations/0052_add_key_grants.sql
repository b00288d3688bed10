-- Key pairs of accounts, and keys of zones that owners' devices give to other accounts (R-268, R-969). Locks `account_key` for a moment:
-- a new column without a default rewrites nothing. Servers of before neither read nor write any of it.
ALTER TABLE account_key ADD COLUMN public_key bytea; -- null: no device has told it yet

-- What a user was given of the keys of one life of a zone. No server can open it. Who may have it is in `share_participant`.
CREATE TABLE key_grant (
    database_id bigint      NOT NULL,
    zone_id     bigint      NOT NULL,
    user_id     bigint      NOT NULL,
    granted_at  timestamptz NOT NULL,
    public_key  bytea       NOT NULL, -- of the user, to which it is encrypted
    newest_id   bytea       NOT NULL, -- the newest key that is in it
    key_count   bigint      NOT NULL, -- how many keys the zone had
    sealed      bytea       NOT NULL,
    PRIMARY KEY (database_id, zone_id, user_id)
);
