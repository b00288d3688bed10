-- A shared database of each user: it owns no rows, but it is a viewer with a feed of its own (feed.database_id), and so has
-- an id. Rows are made when their users come. Locks `database` for a moment while its rows, a few a user, are read once.
ALTER TABLE database
    DROP CONSTRAINT database_scope_check,
    ADD CONSTRAINT database_scope_check CHECK (scope IN (1, 2, 3)); -- 3 shared (one a user)

CREATE UNIQUE INDEX database_shared ON database (user_id) WHERE scope = 3;
