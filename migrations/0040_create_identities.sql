-- Who signs in with tokens of an identity provider: its issuer and subject, and the account that they belong to.
-- The credential beside it cannot be shown by anybody, because its hash is longer than any hash of a credential. By it an
-- identity is listed, revoked and disabled as credentials are, and it goes with the account. Locks nothing that exists.
CREATE TABLE account_identity (
    issuer        text        COLLATE "C" NOT NULL,
    subject       text        COLLATE "C" NOT NULL,
    credential_id bigint      NOT NULL UNIQUE REFERENCES credential (id) ON DELETE CASCADE,
    created_at    timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (issuer, subject)
);
