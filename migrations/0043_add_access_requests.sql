-- Requests for access to shares (R-972 to R-974): who has asked and waits for an answer, and who may not ask. The rows are written
-- under the lock of the zone's row, as participants are. Locks `share` and `share_participant` for a moment.

ALTER TABLE share ADD COLUMN allows_requests boolean NOT NULL DEFAULT false;

-- Whether the user had asked for access when they were invited.
ALTER TABLE share_participant ADD COLUMN is_approved_requester boolean NOT NULL DEFAULT false;

CREATE TABLE share_requester (
    database_id  bigint      NOT NULL,           -- of the zone's owner
    zone_id      bigint      NOT NULL,
    share_number bigint      NOT NULL,
    user_id      bigint      NOT NULL,
    requested_at timestamptz,                    -- null: blocked without having asked or taken part
    is_blocked   boolean     NOT NULL,
    PRIMARY KEY (database_id, zone_id, share_number, user_id)
);

-- For the end of a user's account.
CREATE INDEX share_requester_user ON share_requester (user_id);
