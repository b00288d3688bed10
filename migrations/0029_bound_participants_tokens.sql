-- The participant who left a client change token; 0: a device of the database itself. Each participant has a bound of their own (R-733).
-- Builds an index anew. Fetches of zones' changes and saves with such tokens wait meanwhile.
ALTER TABLE client_token ADD COLUMN user_id bigint NOT NULL DEFAULT 0;

DROP INDEX client_token_number;

CREATE INDEX client_token_number ON client_token (database_id, user_id, number);
