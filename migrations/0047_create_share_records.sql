-- Shares of hierarchies (R-300 … R-334): a root record with all that is below it by its parent. Zones without them are written
-- and read as before. Locks `zone`, `share` and `share_link` for a moment. All servers of before are stopped first: to them each
-- living share is that of a whole zone.

-- Whether hierarchies of the zone are or were shared: then who writes in it keeps `share_record` right.
ALTER TABLE zone ADD COLUMN has_hierarchies boolean NOT NULL DEFAULT false;

-- The name of the root record; null: the whole zone is shared.
ALTER TABLE share ADD COLUMN root_name text COLLATE "C";

CREATE UNIQUE INDEX share_root ON share (database_id, zone_id, root_name) WHERE ended_number IS NULL AND root_name IS NOT NULL;

-- Each hierarchy has a URL of its own, by the name of its root; the empty name is the whole zone's.
ALTER TABLE share_link ADD COLUMN root_name text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE share_link DROP CONSTRAINT share_link_pkey;
ALTER TABLE share_link ADD PRIMARY KEY (database_id, zone_id, root_name);

CREATE INDEX share_link_hash ON share_link (database_id, zone_id, sha256(secret));

-- The change with which the user's access to the zone began, through this share or another that lived then. Null in rows of
-- before, and of those who were never in: `accepted_number`.
ALTER TABLE share_participant ADD COLUMN begun_number bigint;

-- What the participants of a hierarchy's share see: the newest that happened in the share to each record. A row of a share that
-- has ended says nothing any more.
CREATE TABLE share_record (
    database_id    bigint  NOT NULL,           -- of the zone's owner
    zone_id        bigint  NOT NULL,
    share_number   bigint  NOT NULL,
    number         bigint  NOT NULL,           -- when it happened, in the zone's numbering
    entered_number bigint  NOT NULL,           -- since when the record has been in the share
    has_left       boolean NOT NULL,           -- it has left the share, or was deleted
    name           text    COLLATE "C" NOT NULL,
    type           text    COLLATE "C" NOT NULL,
    PRIMARY KEY (database_id, zone_id, name, share_number)
);

CREATE INDEX share_record_number ON share_record (database_id, zone_id, share_number, number);
