-- Which zones may be in a state that their database's feed has not seen: a fetch of the database's changes looks at those, and
-- no longer at all zones (R-736). Rewrites `zone`, updates each zone that a feed has seen, and builds an index; all that needs
-- zones waits meanwhile. Older servers may go on: what they write is marked as well.
ALTER TABLE zone ADD COLUMN seen_mark bigint NOT NULL DEFAULT -1; -- the state that the feed saw, as the next column counts it

UPDATE zone SET seen_mark = e.zone_change_number + (e.removal IS NOT NULL)::integer
  FROM feed_entry e
 WHERE e.database_id = zone.database_id AND e.zone_id = zone.id;

-- The default zone always: feeds may forget that they saw it (R-202). Computed, so that the statements which write need not
-- know of it; and it stays the same while the feed does not look, so that writes touch no index.
ALTER TABLE zone ADD COLUMN is_unseen boolean NOT NULL GENERATED ALWAYS AS (
    name = '_defaultZone' OR change_number + (removal IS NOT NULL)::integer > seen_mark) STORED;

CREATE INDEX zone_unseen ON zone (database_id, id) WHERE is_unseen;
