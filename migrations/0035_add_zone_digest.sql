-- Room for a digest of the names and versions of a zone's living records, so that a device can compare what it has with what is
-- stored (R-844). It is kept as records are written. digest_number is the change number to which it belongs: a server that does
-- not keep the digest moves only change_number on, and then digest and count are unknown. `tidemark admin store mend` computes
-- them anew. So start the new servers at once. Locks zone for a moment: constant defaults rewrite nothing.
ALTER TABLE zone
    ADD COLUMN record_count  bigint NOT NULL DEFAULT 0,
    ADD COLUMN digest_high   bigint NOT NULL DEFAULT 0,
    ADD COLUMN digest_low    bigint NOT NULL DEFAULT 0,
    ADD COLUMN digest_number bigint NOT NULL DEFAULT 0;
