-- Containers, the users of each, and the databases that own rows. Locks nothing that exists.
CREATE TABLE container (
    id          bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    identifier  text        NOT NULL,
    environment smallint    NOT NULL CHECK (environment IN (1, 2)), -- 1 development, 2 production
    created_at  timestamptz NOT NULL DEFAULT now(),
    UNIQUE (identifier, environment)
);

-- An account as one container knows it: the same person has another record name in another container (R-353).
CREATE TABLE container_user (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    container_id bigint NOT NULL REFERENCES container (id),
    account_id   bigint NOT NULL REFERENCES account (id),
    record_name  text   NOT NULL DEFAULT '_' || replace(gen_random_uuid()::text, '-', ''),
    UNIQUE (container_id, account_id),
    UNIQUE (container_id, record_name)
);

-- scope: 1 public (one a container, no user), 2 private (one a user). The shared database owns nothing.
CREATE TABLE database (
    id           bigint   GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    container_id bigint   NOT NULL REFERENCES container (id),
    scope        smallint NOT NULL CHECK (scope IN (1, 2)),
    user_id      bigint   REFERENCES container_user (id),
    CHECK ((scope = 1) = (user_id IS NULL))
);

CREATE UNIQUE INDEX database_public ON database (container_id) WHERE scope = 1;
CREATE UNIQUE INDEX database_private ON database (user_id) WHERE scope = 2;
