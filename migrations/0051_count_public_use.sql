-- What each account has created in a public database (R-276), and what it may (R-277). Counted by whoever writes there, in the same
-- transaction. Reads every living record of public databases once, so on a large store do it at a quiet hour. It locks no records:
-- servers of before go on writing, and do not count. When none of them runs any more, `tidemark admin store mend` counts anew what
-- they wrote meanwhile. Locks container and asset_sender for a moment: new columns with constant defaults rewrite nothing.
CREATE TABLE public_use (
    database_id bigint NOT NULL,
    user_id     bigint NOT NULL, -- the creator of the records
    byte_count  bigint NOT NULL, -- of living records, as quotas count them, and of the assets that they name
    PRIMARY KEY (database_id, user_id)
) WITH (fillfactor = 50);

INSERT INTO public_use (database_id, user_id, byte_count)
SELECT database_id, user_id, sum(byte_count)::bigint
  FROM (SELECT r.database_id, r.created_by AS user_id,
               r.byte_count + octet_length(r.name) + octet_length(r.type) + coalesce(octet_length(r.parent), 0) + 128::bigint AS byte_count
          FROM database d
          JOIN zone z ON z.database_id = d.id AND z.removal IS NULL
          JOIN record r ON r.database_id = z.database_id AND r.zone_id = z.id AND NOT r.is_deleted
         WHERE d.scope = 1
         UNION ALL
        SELECT r.database_id, r.created_by, a.byte_count
          FROM database d
          JOIN zone z ON z.database_id = d.id AND z.removal IS NULL
          JOIN asset_use u ON u.database_id = z.database_id AND u.zone_id = z.id
          JOIN record r ON r.database_id = u.database_id AND r.zone_id = u.zone_id AND r.name = u.record_name AND NOT r.is_deleted
          JOIN asset a ON a.database_id = u.database_id AND a.sha256 = u.sha256
         WHERE d.scope = 1) AS s
 GROUP BY database_id, user_id;

-- What one account may have in the public database. Null: a tenth of the public quota, if there is one; -1: no bound.
ALTER TABLE container ADD COLUMN public_share_bytes bigint CHECK (public_share_bytes >= -1);

-- Whether a record of the user names the asset that the user sent. If none does, the asset counts for its sender. Of what was sent
-- before, and to servers of before, it is taken for granted.
ALTER TABLE asset_sender ADD COLUMN is_named boolean NOT NULL DEFAULT true;

CREATE INDEX asset_sender_unnamed ON asset_sender (database_id, user_id) WHERE NOT is_named;
