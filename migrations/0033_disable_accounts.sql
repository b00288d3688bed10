-- Accounts that an operator has disabled or deleted (R-861, R-863), and devices that may not sign in any more (R-866). Locks
-- account and device for a moment: new columns without a default rewrite nothing. The indexes have deleted accounts and revoked
-- devices alone; devices that connect wait while they are built.
-- A deleted account keeps its row, without a name: records of others say by whom they were changed.
ALTER TABLE account
    ADD COLUMN disabled_at timestamptz, -- null: it may sign in
    ADD COLUMN deleted_at  timestamptz; -- null: it exists
ALTER TABLE device ADD COLUMN revoked_at timestamptz; -- null: it may sign in
CREATE INDEX account_deleted ON account (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX device_revoked ON device (account_id) WHERE revoked_at IS NOT NULL;
