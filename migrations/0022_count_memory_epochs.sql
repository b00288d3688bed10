-- When remembered requests are forgotten is counted, not dated: a clock that is set must not make a new request look old, nor
-- an old one new. A server counts memory_epoch on twice a day and clears what is some epochs old (R-157). Adds columns with
-- constants, for which `store` and `request_memory` are locked for a moment. request_memory.updated_at is no longer read; it
-- keeps a value for servers of the version before, which write it.
ALTER TABLE store ADD COLUMN memory_epoch bigint NOT NULL DEFAULT 1;
ALTER TABLE store ADD COLUMN memory_epoch_began_at timestamptz NOT NULL DEFAULT now();
ALTER TABLE request_memory ADD COLUMN epoch bigint NOT NULL DEFAULT 1;
ALTER TABLE request_memory ALTER COLUMN updated_at SET DEFAULT now();
