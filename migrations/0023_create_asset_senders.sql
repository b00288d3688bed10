-- Who has sent which asset to a public database: those users may name it in records (R-743). A row counts for as long as an
-- asset that no record names is kept, and is cleared after that. Of assets that are here already nobody knows who sent them:
-- a device that has not saved its record yet sends its file once more. Locks nothing that exists.
-- A server of an older version writes no rows here: what is sent to it while both run may have to be sent once more.
CREATE TABLE asset_sender (
    database_id bigint      NOT NULL,
    user_id     bigint      NOT NULL,
    sent_at     timestamptz NOT NULL,
    sha256      bytea       NOT NULL,
    PRIMARY KEY (database_id, user_id, sha256)
);

CREATE INDEX asset_sender_age ON asset_sender (sent_at);
