-- What operators did, and who signed in (R-860). Never secrets: commands are kept without their options. Locks nothing that
-- exists.
CREATE TABLE audit (
    id         bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at         timestamptz NOT NULL,
    account_id bigint,                                          -- of a sign-in; 0: nobody has the credential
    device_id  uuid,                                            -- of a sign-in; null: an operator's action
    hour       bigint,                                          -- of a sign-in: hours since 1970
    result     smallint    NOT NULL CHECK (result IN (0, 1, 2)), -- 0 begun, 1 done, 2 refused or failed
    who        text        COLLATE "C" NOT NULL,                -- the operator, or the account's name
    address    text        COLLATE "C" NOT NULL,
    action     text        COLLATE "C" NOT NULL,
    target     text        NOT NULL,
    detail     text        NOT NULL
);
-- Of one device and hour there are at most one sign-in and one that was refused.
CREATE UNIQUE INDEX audit_sign_in ON audit (account_id, device_id, hour, result) WHERE device_id IS NOT NULL;
-- Operators look for actions, which are few among many sign-ins.
CREATE INDEX audit_action ON audit (id) WHERE device_id IS NULL;
-- What is too old is removed by age.
CREATE INDEX audit_age ON audit (at);
