-- Query subscriptions by record type: of a database with very many a server reads those of the types that have changed (R-281). Locks
-- `subscription` against writes for as long as the index is made: a second for some hundred thousand. Older servers do not use it.
CREATE INDEX subscription_watching_type ON subscription (database_id, record_type, user_id, scope, id)
 WHERE database_id IS NOT NULL AND fired_at IS NULL;
