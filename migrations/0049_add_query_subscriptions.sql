-- Query subscriptions (R-244): whoever writes in a database finds those that look at it. Locks `subscription` for a moment: new
-- columns without a default rewrite nothing, and the index has no rows yet. Servers of before see such a subscription without its
-- query, and push nothing for it.
ALTER TABLE subscription
    ADD COLUMN database_id bigint, -- the database that is looked at; null: no query
    ADD COLUMN query       bytea;  -- options, zone name and predicate

CREATE INDEX subscription_watching ON subscription (database_id, user_id, scope, id) WHERE database_id IS NOT NULL;
