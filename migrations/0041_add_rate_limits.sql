-- How many requests an account may send to a server (R-934): an operator's choice for an account, and for each account in a
-- container. Locks account and container for a moment: new columns without a default rewrite nothing, but each row is checked.
-- In both columns null: what the server allows; 0: any number.
ALTER TABLE account
    ADD COLUMN request_rate  integer CHECK (request_rate BETWEEN 0 AND 1000000), -- in each second, in all containers
    ADD COLUMN request_burst integer CHECK (request_burst BETWEEN 0 AND 1000000); -- at once
ALTER TABLE container
    ADD COLUMN request_rate  integer CHECK (request_rate BETWEEN 0 AND 1000000), -- of each account in this container
    ADD COLUMN request_burst integer CHECK (request_burst BETWEEN 0 AND 1000000);
