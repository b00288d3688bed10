-- What operators choose for a container beyond what CloudKit has: feeds of the default zones and of the public database
-- (R-202), and which users have its own roles (R-008). Locks container for a moment: a new column with a constant default
-- rewrites nothing.
ALTER TABLE container ADD COLUMN feeds_everywhere boolean NOT NULL DEFAULT false;

CREATE TABLE user_role (
    user_id      bigint NOT NULL REFERENCES container_user (id),
    container_id bigint NOT NULL,
    role         text   COLLATE "C" NOT NULL,
    PRIMARY KEY (user_id, role),
    FOREIGN KEY (container_id, role) REFERENCES record_role (container_id, name) ON DELETE CASCADE
);

-- Who has a role: for lists, and for a role that leaves the schema.
CREATE INDEX user_role_role ON user_role (container_id, role);
