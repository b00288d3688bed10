-- An app's own mark of how far it has sent its changes to a zone, given back with the changes that it fetches (R-222).
-- Locks nothing that exists.
CREATE TABLE client_token (
    database_id bigint NOT NULL,
    zone_id     bigint NOT NULL,
    device_id   uuid   NOT NULL,
    token       bytea  NOT NULL,
    PRIMARY KEY (database_id, zone_id, device_id)
);
