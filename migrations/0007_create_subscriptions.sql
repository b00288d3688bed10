-- Standing wishes to be told of changes (R-240). Locks nothing that exists.
CREATE TABLE subscription (
    user_id           bigint   NOT NULL,
    scope             smallint NOT NULL,
    id                text     COLLATE "C" NOT NULL,
    kind              smallint NOT NULL,
    record_type       text     COLLATE "C",
    notification_info bytea    NOT NULL,
    PRIMARY KEY (user_id, scope, id)
);
