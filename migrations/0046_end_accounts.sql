-- Accounts whose deletion has begun (R-992, R-993): the row goes last, so that a deletion which was cut off is completed by any
-- server, or by the command. What sessions did meanwhile goes then too. The indexes find what an account has in the shares of
-- others: saves of shares wait while they are built.
CREATE TABLE account_end (
    account_id     bigint      PRIMARY KEY REFERENCES account (id),
    begun_at       timestamptz NOT NULL DEFAULT now(), -- no session is opened since
    worked_at      timestamptz NOT NULL DEFAULT now(), -- the last sign of life of who works on it
    deletes_public boolean     NOT NULL                -- whether the records that it made in public databases go too
);
CREATE INDEX account_end_worked ON account_end (worked_at);

-- By hash: it finds a user, and no statement that looks for a user of one share can take it instead of the whole key.
CREATE INDEX share_participant_person ON share_participant USING hash (user_id) WHERE user_id IS NOT NULL;
CREATE INDEX share_participant_address ON share_participant (address) WHERE address IS NOT NULL;
