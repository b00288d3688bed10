-- What servers know of each device, for operators who ask why sync is stuck (R-850): one row a device, written at most once a
-- minute. It goes with the device's row. The foreign key locks device for a moment; no row is read or rewritten.
CREATE TABLE device_progress (
    account_id bigint      NOT NULL,
    device_id  uuid        NOT NULL,
    noted_at   timestamptz NOT NULL, -- when a server wrote it, by that server's clock
    progress   bytea       NOT NULL,
    PRIMARY KEY (account_id, device_id),
    FOREIGN KEY (account_id, device_id) REFERENCES device (account_id, id) ON DELETE CASCADE
) WITH (fillfactor = 50);
