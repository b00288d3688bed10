-- A zone that is shared again has one row in its viewer's feed. `last_end` is the feed's number of the end before; null: there
-- was none. A device whose token is older than that hears of the end, and then of the zone (R-225). Builds an index of rows that
-- have such a number. Fetches that number zones wait meanwhile.
ALTER TABLE feed_entry ADD COLUMN last_end bigint;

CREATE INDEX feed_entry_last_end ON feed_entry (database_id, last_end) WHERE last_end IS NOT NULL;
