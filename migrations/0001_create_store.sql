-- The store itself: which life of it is going on. Locks nothing that exists.
-- The incarnation is part of every token and tag; a restore from a backup renews it (tidemark admin store renew-incarnation).
CREATE TABLE store (
    singleton   boolean PRIMARY KEY DEFAULT true CHECK (singleton),
    incarnation bigint  NOT NULL
);

INSERT INTO store (incarnation)
VALUES (('x' || substr(replace(gen_random_uuid()::text, '-', ''), 1, 16))::bit(64)::bigint);
