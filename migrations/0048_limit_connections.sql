-- How many connections an account may have to each server (R-935): an operator's choice for an account, and for each account for
-- which nothing was chosen. Locks account and store for a moment: new columns without a default rewrite nothing, but each row is
-- checked. Null: what the server allows.
ALTER TABLE account ADD COLUMN connections_max integer CHECK (connections_max BETWEEN 1 AND 1000000);
ALTER TABLE store ADD COLUMN connections_max integer CHECK (connections_max BETWEEN 1 AND 1000000);
