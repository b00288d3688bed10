-- The database feed of each viewer, numbered by its readers. Locks nothing that exists.
CREATE TABLE feed (
    database_id  bigint PRIMARY KEY,           -- the viewer's
    head         bigint NOT NULL DEFAULT 0,    -- the newest number given out
    oldest_token bigint NOT NULL DEFAULT 0     -- tokens below it are expired
) WITH (fillfactor = 50);

CREATE TABLE feed_entry (
    database_id        bigint   NOT NULL,      -- the viewer's
    zone_id            bigint   NOT NULL,
    owner_database_id  bigint   NOT NULL,      -- where the zone's rows are
    number             bigint   NOT NULL,      -- the viewer's number of this state of the zone
    zone_change_number bigint   NOT NULL,      -- how far the feed has seen the zone
    removal            smallint,               -- as zone.removal when it was seen
    PRIMARY KEY (database_id, zone_id)
) WITH (fillfactor = 50);

CREATE INDEX feed_entry_number ON feed_entry (database_id, number);
