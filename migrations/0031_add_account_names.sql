-- The name of an account's person, which those see who take part in the same shares (R-779): an operator's choice. Locks account
-- for a moment: new columns without a default rewrite nothing.
ALTER TABLE account
    ADD COLUMN given_name  text CHECK (octet_length(given_name) BETWEEN 1 AND 128),  -- null: there is none
    ADD COLUMN family_name text CHECK (octet_length(family_name) BETWEEN 1 AND 128); -- null: there is none
