// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkPostgres

/// Asks what some users may do in some zones.
struct AccessQuery: Sendable {
    let zones: [ZoneKey]
    let users: [WantedUser]

    /// A user who is asked about in one of the zones.
    struct WantedUser: Sendable {
        /// Counted from 1.
        let place: Int32
        let user: UserID
    }
}

/// Asks for shares of some zones, and for all people of those that are chosen.
struct PeopleQuery: Sendable {
    let zones: [ZoneKey]
    /// The zones of which all shares are chosen.
    var every: [Int32] = []
    var names: [WantedShare] = []
    var links: [WantedLink] = []
    /// Whose own parts are read in the shares that are not chosen.
    var users: [AccessQuery.WantedUser] = []

    /// - Parameter reads: of each zone.
    init(_ zones: [ZoneKey], _ reads: [SharingRead]) {
        self.zones = zones
        for (index, read) in reads.enumerated() {
            let (place, choice) = (Int32(index + 1), read.choice)
            if choice.isEvery { every.append(place) }
            names += choice.names.sorted().map { WantedShare(place: place, name: $0) }
            links += choice.linkHashes.map { WantedLink(place: place, hash: $0) }
            users += read.partUsers.map { AccessQuery.WantedUser(place: place, user: $0) }
        }
    }

    /// A share by the name of its CKShare record, in one of the zones.
    struct WantedShare: Sendable {
        /// Counted from 1.
        let place: Int32
        let name: String
    }

    /// A share by the SHA-256 of its secret, in one of the zones.
    struct WantedLink: Sendable {
        let place: Int32
        let hash: [UInt8]
    }
}

/// Rows of one share that one statement writes.
struct SharingWrite: Sendable {
    let database: DatabaseID
    let zone: ZoneID
    let share: ShareNumber
    var participants: [Participant] = []
    var requests: [AccessRequest] = []
}

/// The SQL of shares. Their rows are written under the lock of their zone. See ``RecordStatements`` for the form of
/// look-ups.
struct SharingStatements: Sendable {
    /// All shares of zones, with all participants of the chosen ones that live and the secrets of their URLs. In the others that
    /// live, the rows of some users.
    let readPeople = reading(
        "read_share_people", \.zones, link: link, shares: shares(only: "true"), participants: people)

    /// The same without participants who have ended, and with the names of the owner and of those who have accepted
    /// (R-779). Changes of shares need those who have ended, and no names.
    let readShown = reading(
        "read_shown_sharing", \.zones, link: link, shares: shares(only: "true"),
        participants: named(people), withNames: true)

    /// The same of the chosen shares alone.
    let readLinked = reading(
        "read_linked_sharing", \.zones, link: link, shares: shares(only: "c.is_chosen"),
        participants: named(people), withNames: true)

    /// All shares of zones, with the rows of some users in the living ones. One look-up for each user, however many take
    /// part.
    let readAccess = reading(
        "read_share_access", \.zones, link: "SELECT NULL::bytea AS secret", shares: unchosenShares,
        participants: "SELECT \(participantColumns) FROM (\(someParticipants(\.users))) AS f")

    /// At least one row for each zone that lives and has an owner. Participants of a share that has ended are not read:
    /// their rows grant nothing.
    private static func reading<Input>(
        _ name: String, _ zones: any KeyPath<Input, [ZoneKey]> & Sendable, link: SQL<Input>, shares: SQL<Input>,
        participants: SQL<Input>, withNames isNamed: Bool = false
    ) -> DeclaredStatement<Input, SharingRow> {
        let (owner, names) = isNamed ? (Self.namedOwner, Self.nameColumns) : (Self.owner, "")
        return DeclaredStatement(
            .read, name,
            """
            SELECT k.ordinal, z.id AS zone_id, d.user_id AS owner_id, l.secret, s.number AS share_number,
                   s.ended_number AS share_ended_number, s.public_permission, s.allows_requests, s.record_name, p.id,
                   p.user_id, p.address, p.link_secret, p.role, p.permission, p.status, p.accepted_number, p.begun_number,
                   p.ended_number, p.added_at, p.is_approved_requester, s.root_name, s.root_secret,
                   s.is_chosen\(names)
              FROM unnest(\(zones, \.database), \(zones, \.name)) WITH ORDINALITY AS k (database_id, zone_name, ordinal)
             CROSS JOIN LATERAL (\(ZoneStatements.livingID)) AS z
             CROSS JOIN LATERAL (
                   \(owner)) AS d
              LEFT JOIN LATERAL (\(link)) AS l ON true
              LEFT JOIN LATERAL (
                   \(shares)) AS s ON true
              LEFT JOIN LATERAL (
                   \(participants)) AS p ON true
            """
        ) { row throws(PostgresError) in try isNamed ? SharingRow(named: row) : SharingRow(row) }
    }

    private static let unchosenShares: SQL<AccessQuery> = """
        SELECT share.*, NULL::bytea AS root_secret, false AS is_chosen
          FROM share WHERE database_id = k.database_id AND zone_id BETWEEN z.id AND z.id
         ORDER BY database_id, zone_id, number OFFSET 0
        """

    /// The shares of a zone, and whether each is chosen. The secret of the URL of a hierarchy's share comes with those that are.
    /// NB: `OFFSET 0` keeps these look-ups with the share. Further out they would be repeated for each participant. Names are
    /// hashed once, as they do not depend on the share. There are few links.
    private static func shares(only condition: String) -> SQL<PeopleQuery> {
        """
        SELECT c.*,
               CASE WHEN c.is_chosen AND c.root_name IS NOT NULL
                    THEN (SELECT secret FROM share_link AS u
                           WHERE u.database_id = k.database_id AND u.zone_id BETWEEN z.id AND z.id
                             AND u.root_name BETWEEN c.root_name AND c.root_name
                           ORDER BY u.database_id, u.zone_id, u.root_name LIMIT 1) END AS root_secret
          FROM (SELECT o.*,
                       o.ended_number IS NULL
                           AND (k.ordinal = ANY (\(\.every)::integer[]) OR coalesce(o.root_name, '') = ANY (r.root_names)
                                OR (k.ordinal, o.record_name) IN (
                                    SELECT w.place, w.name
                                      FROM unnest(\(\.names, \.place), \(\.names, \.name)) AS w (place, name)))
                           AS is_chosen
                  FROM (SELECT ARRAY(\(linkedRoots)) AS root_names OFFSET 0) AS r
                 CROSS JOIN LATERAL (
                       SELECT * FROM share WHERE database_id = k.database_id AND zone_id BETWEEN z.id AND z.id
                        ORDER BY database_id, zone_id, number OFFSET 0) AS o OFFSET 0) AS c
         WHERE \(condition) OFFSET 0
        """
    }

    /// The roots whose links are asked for. The empty root is the whole zone.
    private static let linkedRoots: SQL<PeopleQuery> = """
        SELECT u.root_name
          FROM (SELECT w.hash FROM unnest(\(\.links, \.place), \(\.links, \.hash)) AS w (place, hash)
                 WHERE w.place = k.ordinal OFFSET 0) AS w
         CROSS JOIN LATERAL (
               SELECT root_name FROM share_link
                WHERE database_id = k.database_id AND zone_id BETWEEN z.id AND z.id
                  AND sha256(secret) BETWEEN w.hash AND w.hash
                ORDER BY database_id, zone_id, sha256(secret) LIMIT 1) AS u
        """

    private static let owner = """
        SELECT user_id FROM database
         WHERE id BETWEEN k.database_id AND k.database_id AND user_id IS NOT NULL ORDER BY id LIMIT 1
        """

    /// NB: `OFFSET 0` keeps the look-up of the name here. Further out it would be repeated for each participant.
    private static let namedOwner = """
        SELECT o.user_id, n.given_name, n.family_name
          FROM (\(owner)) AS o LEFT JOIN LATERAL (\(personName(of: "o.user_id"))) AS n ON true
         OFFSET 0
        """

    private static let nameColumns =
        ", d.given_name AS owner_given_name, d.family_name AS owner_family_name, p.given_name, p.family_name"

    /// The name of a user's account: one row at most, and none if the user is null.
    private static func personName(of user: String) -> String {
        """
        SELECT a.given_name, a.family_name
          FROM (SELECT account_id FROM container_user WHERE id BETWEEN \(user) AND \(user) ORDER BY id LIMIT 1) AS u
         CROSS JOIN LATERAL (
               SELECT given_name, family_name FROM account
                WHERE id BETWEEN u.account_id AND u.account_id ORDER BY id LIMIT 1) AS a
        """
    }

    /// NB: a join, because a column would be looked up for each participant.
    private static let link: SQL<PeopleQuery> = """
        SELECT secret FROM share_link
         WHERE database_id = k.database_id AND zone_id BETWEEN z.id AND z.id AND root_name BETWEEN '' AND ''
         ORDER BY database_id, zone_id, root_name LIMIT 1
        """

    private static let participantColumns = """
        id, user_id, address, link_secret, role, permission, status, accepted_number, begun_number, ended_number,
                added_at, is_approved_requester
        """

    /// All people of a chosen share, with those who have asked for access, who have no ID: their status is 4, or 5 if they are
    /// blocked. Of another share, the rows of some users.
    private static let people: SQL<PeopleQuery> = """
        (SELECT \(participantColumns)
           FROM share_participant
          WHERE database_id = k.database_id AND zone_id = z.id AND share_number BETWEEN s.number AND s.number
            AND s.is_chosen
          ORDER BY share_number OFFSET 0)
         UNION ALL
        (SELECT NULL, user_id, NULL, NULL, NULL, NULL, CASE WHEN is_blocked THEN 5::smallint ELSE 4::smallint END, NULL,
                NULL, NULL, requested_at, false
           FROM share_requester
          WHERE database_id = k.database_id AND zone_id = z.id AND share_number BETWEEN s.number AND s.number
            AND s.is_chosen
          ORDER BY share_number OFFSET 0)
         UNION ALL
        (SELECT \(participantColumns) FROM (\(someParticipants(\.users))) AS f)
        """

    /// Those who have ended are shown to nobody, and there may be four times as many of them. Whoever is only invited is
    /// shown without a name, so none is looked up. Whoever asks for access tells who they are; whoever was blocked without that
    /// has no time.
    private static func named(_ people: SQL<PeopleQuery>) -> SQL<PeopleQuery> {
        """
        SELECT f.*, n.given_name, n.family_name
          FROM (SELECT * FROM (\(people)) AS a WHERE a.status <> 3 OFFSET 0) AS f
          LEFT JOIN LATERAL (\(personName(of: namedUser))) AS n ON true
        """
    }

    private static let namedUser =
        "CASE WHEN f.status = 2 OR f.status > 3 AND f.added_at IS NOT NULL THEN f.user_id END"

    /// The rows of some users in a living share that is not chosen.
    private static func someParticipants<Input>(
        _ users: any KeyPath<Input, [AccessQuery.WantedUser]> & Sendable
    ) -> SQL<Input> {
        """
        SELECT f.*
          FROM (SELECT w.user_id FROM unnest(\(users, \.place), \(users, \.user)) AS w (place, user_id)
                 WHERE w.place = k.ordinal AND s.ended_number IS NULL AND NOT s.is_chosen OFFSET 0) AS w
         CROSS JOIN LATERAL (
               SELECT * FROM share_participant
                WHERE database_id = k.database_id AND zone_id = z.id AND share_number = s.number
                  AND user_id BETWEEN w.user_id AND w.user_id ORDER BY user_id LIMIT 1) AS f
        """
    }

    /// What of `Limits.sharingRowsMax` the accounts have that own private databases. Users of any containers are counted.
    let countRows = DeclaredStatement<[DatabaseID], (ordinal: Int, count: Int64)>(
        .read, "count_sharing_rows",
        """
        SELECT k.ordinal, \(rowCount(ofOwnerOf: "k.database_id")) AS row_count
          FROM unnest(\(\.self)) WITH ORDINALITY AS k (database_id, ordinal)
        """
    ) { row throws(PostgresError) in (try row["ordinal"], try row["row_count"]) }

    /// - Parameter database: a private database; 0 rows for any other.
    static func rowCount(ofOwnerOf database: String) -> String {
        """
        (SELECT count(*)
           FROM database o
           JOIN container_user a ON a.id = o.user_id
           JOIN container_user u ON u.account_id = a.account_id
           JOIN database d ON d.user_id = u.id AND d.scope = 2
          CROSS JOIN LATERAL (
                SELECT 1 FROM share WHERE database_id = d.id
                 UNION ALL
                SELECT 1 FROM share_participant WHERE database_id = d.id
                 UNION ALL
                SELECT 1 FROM share_requester WHERE database_id = d.id
                 UNION ALL
                SELECT 1 FROM share_link WHERE database_id = d.id AND root_name <> ''
                 UNION ALL
                SELECT 1 FROM zone_key WHERE database_id = d.id AND number <> 1) AS r
          WHERE o.id = \(database) AND o.scope = 2)
        """
    }

    // MARK: Writing

    /// All rows of the shares: an account has no more than `Limits.sharingRowsMax` of them. What is stored of the records that
    /// they covered is not among these, and goes in steps (``HierarchyStatements/forgetEnded``).
    let forgetShares = DeclaredStatement<(database: DatabaseID, zone: ZoneID, shares: [ShareNumber]), Void>(
        .write, "forget_shares",
        """
        WITH gone AS (
            DELETE FROM share
             WHERE database_id = \(\.database) AND zone_id = \(\.zone) AND number = ANY (\(\.shares))),
        answered AS (
            DELETE FROM share_requester
             WHERE database_id = \(\.database) AND zone_id = \(\.zone) AND share_number = ANY (\(\.shares)))
        DELETE FROM share_participant
         WHERE database_id = \(\.database) AND zone_id = \(\.zone) AND share_number = ANY (\(\.shares))
        """)

    let forgetParticipants = DeclaredStatement<(rows: SharingWrite, ids: [ParticipantID]), Void>(
        .write, "forget_participants",
        """
        DELETE FROM share_participant
         WHERE database_id = \(\.rows.database) AND zone_id = \(\.rows.zone) AND share_number = \(\.rows.share)
           AND id = ANY (\(\.ids))
        """)

    /// Inserts rows, or replaces those with their IDs.
    let writeParticipants = DeclaredStatement<SharingWrite, Void>(
        .write, "write_participants",
        """
        INSERT INTO share_participant (database_id, zone_id, share_number, id, user_id, address, link_secret, role,
                                       permission, status, accepted_number, begun_number, ended_number, added_at,
                                       is_approved_requester)
        SELECT \(\.database), \(\.zone), \(\.share), k.id, k.user_id, k.address, k.link_secret, k.role, k.permission,
               k.status, k.accepted_number, k.begun_number, k.ended_number, k.added_at, k.is_approved <> 0
          FROM unnest(\(\.participants, \.id), \(\.participants, \.user), \(\.participants, \.address),
                      \(\.participants, \.linkSecret), \(\.participants, \.roleCode),
                      \(\.participants, \.permissionCode), \(\.participants, \.statusCode),
                      \(\.participants, \.acceptedNumber), \(\.participants, \.begunNumber),
                      \(\.participants, \.endedNumber), \(\.participants, \.addedAt), \(\.participants, \.approvedCode))
               AS k (id, user_id, address, link_secret, role, permission, status, accepted_number, begun_number,
                     ended_number, added_at, is_approved)
            ON CONFLICT (database_id, zone_id, share_number, id) DO UPDATE
           SET user_id = excluded.user_id, address = excluded.address, link_secret = excluded.link_secret,
               role = excluded.role, permission = excluded.permission, status = excluded.status,
               accepted_number = excluded.accepted_number, begun_number = excluded.begun_number,
               ended_number = excluded.ended_number, added_at = excluded.added_at, is_approved_requester = excluded.is_approved_requester
        """)

    let dropRequests = DeclaredStatement<(rows: SharingWrite, users: [UserID]), Void>(
        .write, "drop_access_requests",
        """
        DELETE FROM share_requester
         WHERE database_id = \(\.rows.database) AND zone_id = \(\.rows.zone) AND share_number = \(\.rows.share)
           AND user_id = ANY (\(\.users))
        """)

    /// Inserts rows, or replaces those of their users.
    let writeRequests = DeclaredStatement<SharingWrite, Void>(
        .write, "write_access_requests",
        """
        INSERT INTO share_requester (database_id, zone_id, share_number, user_id, requested_at, is_blocked)
        SELECT \(\.database), \(\.zone), \(\.share), k.user_id, k.requested_at, k.blocked <> 0
          FROM unnest(\(\.requests, \.user), \(\.requests, \.requestedAt), \(\.requests, \.blockedCode))
               AS k (user_id, requested_at, blocked)
            ON CONFLICT (database_id, zone_id, share_number, user_id) DO UPDATE
           SET requested_at = excluded.requested_at, is_blocked = excluded.is_blocked
        """)

    /// Inserts the share, or replaces the one with its number.
    let writeShare = DeclaredStatement<(zone: SharingWrite, share: Share), Void>(
        .write, "write_share",
        """
        INSERT INTO share (database_id, zone_id, number, ended_number, public_permission, allows_requests, record_name,
                           root_name)
        VALUES (\(\.zone.database), \(\.zone.zone), \(\.share.number), \(\.share.endedNumber),
                \(\.share.publicPermission), \(\.share.allowsRequests), \(\.share.recordName), \(\.share.rootName))
            ON CONFLICT (database_id, zone_id, number) DO UPDATE
           SET ended_number = excluded.ended_number, public_permission = excluded.public_permission,
               allows_requests = excluded.allows_requests
        """)

    /// A zone gets one secret in its life, and each root of a hierarchy one of its own. The empty root is the whole zone.
    let writeSecret = DeclaredStatement<(zone: SharingWrite, rootName: String, secret: [UInt8]), Void>(
        .write, "write_share_secret",
        """
        INSERT INTO share_link (database_id, zone_id, root_name, secret)
        VALUES (\(\.zone.database), \(\.zone.zone), \(\.rootName), \(\.secret))
            ON CONFLICT DO NOTHING
        """)

    // MARK: Pointers

    /// The row has the zone's id, null if the zone does not live. It also says whether too many links lead to the zone whose
    /// secrets no save has taken, of whatever roots: all of them together count. These are removed once they are old. If the zone has a secret already, the link with that
    /// secret is made to lead to it, and no other is written.
    let pointLink = DeclaredStatement<
        (secretHash: [UInt8], key: ZoneKey, rootName: String, countMax: Int), (zone: ZoneID?, isFull: Bool)
    >(
        .write, "point_link",
        """
        WITH z AS MATERIALIZED (\(living(\.key))),
        s AS MATERIALIZED (
            SELECT (SELECT sha256(secret) FROM share_link
                     WHERE database_id = \(part: \.key, \.database)
                       AND zone_id BETWEEN (SELECT id FROM z) AND (SELECT id FROM z)
                       AND root_name BETWEEN \(\.rootName) AND \(\.rootName)
                     ORDER BY zone_id, root_name LIMIT 1) AS taken_hash,
                   (SELECT count(*) FROM share_link_target t
                     WHERE owner_database_id = \(part: \.key, \.database)
                       AND zone_id BETWEEN (SELECT id FROM z) AND (SELECT id FROM z)
                       AND secret_hash <> \(\.secretHash) AND NOT \(isOld) AND \(isUntaken)) AS untaken_count),
        gone AS (
            DELETE FROM share_link_target WHERE ctid = ANY (ARRAY(
                SELECT t.ctid FROM share_link_target t
                 WHERE t.owner_database_id = \(part: \.key, \.database)
                   AND t.zone_id BETWEEN (SELECT id FROM z) AND (SELECT id FROM z)
                   AND t.secret_hash <> \(\.secretHash) AND \(isOld)
                   AND \(isUntaken)
                 ORDER BY t.zone_id LIMIT 1000))),
        put AS (
            INSERT INTO share_link_target (secret_hash, owner_database_id, zone_id)
            SELECT COALESCE((SELECT taken_hash FROM s), \(\.secretHash)), \(part: \.key, \.database), id FROM z
             WHERE (SELECT taken_hash IS NOT NULL OR untaken_count < \(\.countMax) FROM s)
                ON CONFLICT (secret_hash) DO UPDATE
               SET owner_database_id = excluded.owner_database_id, zone_id = excluded.zone_id,
                   made_at = excluded.made_at
             WHERE (SELECT taken_hash IS NULL FROM s) OR share_link_target.zone_id <> excluded.zone_id
                OR share_link_target.owner_database_id <> excluded.owner_database_id)
        SELECT (SELECT id FROM z) AS zone_id,
               (SELECT taken_hash IS NULL AND untaken_count >= \(\.countMax) FROM s) AS is_full
        """
    ) { row throws(PostgresError) in (try row["zone_id"], try row["is_full"]) }

    /// Whether no save has taken the secret of the target `t`.
    private static let isUntaken = """
        (SELECT 1 FROM share_link l
                         WHERE l.database_id = t.owner_database_id AND l.zone_id BETWEEN t.zone_id AND t.zone_id
                           AND sha256(l.secret) = t.secret_hash ORDER BY l.zone_id, sha256(l.secret) LIMIT 1) IS NULL
        """

    /// Whether no save can take the secret of a target any more.
    private static let isOld = "made_at < now() - interval '10 minutes'"

    /// The id of the zone with this key, if it lives.
    static func living<Input>(_ key: any KeyPath<Input, ZoneKey> & Sendable) -> SQL<Input> {
        """
        SELECT id FROM zone
         WHERE database_id = \(part: key, \.database)
           AND name BETWEEN \(part: key, \.name) AND \(part: key, \.name) AND removal IS NULL ORDER BY name LIMIT 1
        """
    }

    /// Without zones in another container or environment than the viewer's database.
    let linkedZones = DeclaredStatement<
        (secretHashes: [[UInt8]], viewer: DatabaseID), (secretHash: [UInt8], zone: ZoneKey)
    >(
        .read, "linked_zones",
        """
        SELECT i.secret_hash, z.database_id, z.name
          FROM unnest(\(\.secretHashes)) AS h (secret_hash)
         CROSS JOIN LATERAL (
               SELECT secret_hash, owner_database_id AS database_id, zone_id AS id FROM share_link_target
                WHERE secret_hash BETWEEN h.secret_hash AND h.secret_hash ORDER BY secret_hash LIMIT 1) AS i
         CROSS JOIN LATERAL (\(livingByID)) AS z
         WHERE (SELECT container_id FROM database WHERE id = z.database_id)
             = (SELECT container_id FROM database WHERE id = \(\.viewer))
        """
    ) { row throws(PostgresError) in
        (try row["secret_hash"], ZoneKey(database: try row["database_id"], name: try row["name"]))
    }

    /// The zone `i.id`, if it lives. For a `LATERAL` join.
    static let livingByID = """
        SELECT * FROM zone
         WHERE database_id = i.database_id AND id BETWEEN i.id AND i.id AND removal IS NULL ORDER BY id LIMIT 1
        """

    // MARK: Owners

    let ownersNamed = DeclaredStatement<(names: [String], container: ContainerKey), ZoneOwner>(
        .read, "owners_named",
        """
        SELECT u.id, u.record_name, d.id AS database_id
          FROM container k
          JOIN container_user u ON u.container_id = k.id AND u.record_name = ANY (\(\.names))
          JOIN database d ON d.user_id = u.id AND d.scope = 2
         WHERE k.identifier = \(\.container.identifier) AND k.environment = \(\.container.environment)
        """
    ) { row throws(PostgresError) in try ZoneOwner(row) }

    let ownersOf = DeclaredStatement<[DatabaseID], ZoneOwner>(
        .read, "owners_of_databases",
        """
        SELECT u.id, u.record_name, d.id AS database_id
          FROM database d JOIN container_user u ON u.id = d.user_id
         WHERE d.id = ANY (\(\.self)) AND d.scope = 2
        """
    ) { row throws(PostgresError) in try ZoneOwner(row) }

    /// The user whose shared database it is; null for other databases.
    let viewers = DeclaredStatement<[DatabaseID], (database: DatabaseID, user: UserID?)>(
        .read, "viewers_of_databases",
        "SELECT id, CASE WHEN scope = 3 THEN user_id END AS user_id FROM database WHERE id = ANY (\(\.self))"
    ) { row throws(PostgresError) in (try row["id"], try row["user_id"]) }
}

extension ZoneOwner {
    fileprivate init(_ row: PostgresRow) throws(PostgresError) {
        self.init(user: try row["id"], recordName: try row["record_name"], privateDatabase: try row["database_id"])
    }
}

extension Participant {
    // There are no arrays of smallint.
    fileprivate var roleCode: Int32 { Int32(role.rawValue) }
    fileprivate var permissionCode: Int32 { Int32(permission.rawValue) }
    fileprivate var statusCode: Int32 { Int32(status.rawValue) }
    fileprivate var approvedCode: Int32 { isApprovedRequester ? 1 : 0 }
}

extension AccessRequest {
    fileprivate var blockedCode: Int32 { isBlocked ? 1 : 0 }
}
