-- What is known of record types: learned from first saves in development, frozen in production (R-012, R-062).
-- Locks store for a moment: a new column with a constant default rewrites nothing.
-- The version grows with every change by an operator, of whatever container: each write transaction, which reads this row
-- anyway, compares it with what its server remembers.
ALTER TABLE store ADD COLUMN schema_version bigint NOT NULL DEFAULT 1;

CREATE TABLE record_type (
    container_id   bigint  NOT NULL REFERENCES container (id),
    name           text    COLLATE "C" NOT NULL,
    has_own_grants boolean NOT NULL DEFAULT false,     -- false: the standard ones (R-008)
    PRIMARY KEY (container_id, name)
);

-- Fields of a type; system fields (___createTime …) have a row only where they are marked.
CREATE TABLE record_field (
    container_id bigint   NOT NULL,
    record_type  text     COLLATE "C" NOT NULL,
    key          text     COLLATE "C" NOT NULL,
    value_type   smallint NOT NULL,                    -- as in a field map
    is_encrypted boolean  NOT NULL DEFAULT false,
    marks        smallint NOT NULL DEFAULT 0,          -- 1 queryable, 2 sortable, 4 searchable
    ready_marks  smallint NOT NULL DEFAULT 0,          -- those for which every record has its index values
    PRIMARY KEY (container_id, record_type, key),
    FOREIGN KEY (container_id, record_type) REFERENCES record_type (container_id, name) ON DELETE CASCADE
);

CREATE TABLE record_grant (
    container_id bigint   NOT NULL,
    record_type  text     COLLATE "C" NOT NULL,
    role         text     COLLATE "C" NOT NULL,
    permissions  smallint NOT NULL,                    -- 1 read, 2 create, 4 write
    PRIMARY KEY (container_id, record_type, role),
    FOREIGN KEY (container_id, record_type) REFERENCES record_type (container_id, name) ON DELETE CASCADE
);

-- A container's own roles.
CREATE TABLE record_role (
    container_id bigint NOT NULL REFERENCES container (id),
    name         text   COLLATE "C" NOT NULL,
    PRIMARY KEY (container_id, name)
);
