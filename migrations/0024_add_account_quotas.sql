-- What the private databases of an account may hold together, in all containers (R-751): an operator's choice, for one account
-- or for all. Locks account and store for a moment: new columns without a default rewrite nothing. Building the index of
-- container_user, which has a row for each user of a container, stops new users meanwhile.
ALTER TABLE account ADD COLUMN quota_bytes bigint CHECK (quota_bytes >= 0); -- null: that of all accounts
ALTER TABLE store ADD COLUMN account_quota_bytes bigint CHECK (account_quota_bytes >= 0); -- null: no quota

CREATE INDEX container_user_account ON container_user (account_id);
