-- Query subscriptions (R-244): whoever writes in a database finds those that look at it. Locks `subscription`: new columns without a
-- default rewrite nothing, and the index has no rows yet, but its making reads the table. Older servers see such a subscription
-- without its query, and push nothing for it.
ALTER TABLE subscription
    ADD COLUMN database_id bigint,      -- the database that is looked at; null: no query
    ADD COLUMN query       bytea,       -- options, zone name and predicate
    ADD COLUMN fired_at    timestamptz; -- of one that fires once: when it fired, and ended (R-246)

CREATE INDEX subscription_watching ON subscription (database_id, user_id, scope, id)
 WHERE database_id IS NOT NULL AND fired_at IS NULL;
