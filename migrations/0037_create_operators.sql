-- Who gives commands over a server (R-880), with what role: 1 viewer, 2 editor, 3 owner. Locks nothing that exists.
CREATE TABLE operator (
    id         bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name       text        COLLATE "C" NOT NULL UNIQUE,
    role       smallint    NOT NULL CHECK (role IN (1, 2, 3)),
    created_at timestamptz NOT NULL DEFAULT now()
);

-- Only the SHA-256 of a credential is kept, as of those of accounts.
CREATE TABLE operator_credential (
    id          bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    operator_id bigint      NOT NULL REFERENCES operator (id) ON DELETE CASCADE,
    hash        bytea       NOT NULL UNIQUE,
    label       text        NOT NULL DEFAULT '',
    created_at  timestamptz NOT NULL DEFAULT now(),
    expires_at  timestamptz, -- null: never
    revoked_at  timestamptz  -- null: it is valid
);

CREATE INDEX operator_credential_operator ON operator_credential (operator_id);
