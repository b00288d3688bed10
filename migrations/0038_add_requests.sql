-- Which request, or operator's command, made the last change of a record (R-918), and which belongs to a row of the audit
-- (R-919). request_number is the change number to which request belongs: a server that does not know these columns changes
-- neither, and then the request is unknown. Locks record and audit for a moment: columns without a default rewrite nothing. The
-- index is built while audit cannot be written. That is short, because no row has a request yet.
ALTER TABLE record
    ADD COLUMN request        uuid,
    ADD COLUMN request_number bigint;
ALTER TABLE audit ADD COLUMN request uuid;
-- From a request to the session that made it. Its first eight bytes are those of the session.
CREATE INDEX audit_request ON audit (request) WHERE request IS NOT NULL;
