-- An operator deletes a container: it is closed first, and has another identifier at the end. Its number stays, and so do
-- those of its users and databases. If the container is created again, it gets them back. So devices of before are the same
-- users, and no token of theirs fits a place that it does not mean.
ALTER TABLE container
    ADD COLUMN closed_at          timestamptz, -- null: it is open
    ADD COLUMN deleted_identifier text;        -- what it was called before it was deleted; null: it exists

CREATE INDEX container_deleted ON container (deleted_identifier, environment) WHERE deleted_identifier IS NOT NULL;
