-- How many requests each account may send to a server for which nothing was chosen (R-990): an operator's choice, in place of
-- the servers' settings. Locks store for a moment: new columns without a default rewrite nothing.
-- As those of account and container (0041): null: what the server allows; 0: any number.
ALTER TABLE store
    ADD COLUMN request_rate  integer CHECK (request_rate BETWEEN 0 AND 1000000), -- in each second, in all containers
    ADD COLUMN request_burst integer CHECK (request_burst BETWEEN 0 AND 1000000); -- at once
