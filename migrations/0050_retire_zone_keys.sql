-- Keys of zones with which nothing more is encrypted, because the owner has given the zone another one (R-967). Locks the table for a
-- moment: a new column with a constant default rewrites nothing. Servers from before it accept such keys as before.
ALTER TABLE zone_key ADD COLUMN is_retired boolean NOT NULL DEFAULT false;
