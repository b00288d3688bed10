-- Who may connect. Locks nothing that exists.
CREATE TABLE account (
    id         bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name       text        NOT NULL UNIQUE,
    created_at timestamptz NOT NULL DEFAULT now()
);

-- Only the SHA-256 of a credential is kept: whoever reads this table cannot connect with it.
CREATE TABLE credential (
    id         bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    account_id bigint      NOT NULL REFERENCES account (id),
    hash       bytea       NOT NULL UNIQUE,
    label      text        NOT NULL DEFAULT '',
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz,
    revoked_at timestamptz
);

CREATE INDEX credential_account ON credential (account_id);

-- For operators: which devices of an account have been here.
CREATE TABLE device (
    account_id    bigint      NOT NULL REFERENCES account (id),
    id            uuid        NOT NULL,
    name          text        NOT NULL DEFAULT '',
    first_seen_at timestamptz NOT NULL,
    last_seen_at  timestamptz NOT NULL,
    PRIMARY KEY (account_id, id)
);
