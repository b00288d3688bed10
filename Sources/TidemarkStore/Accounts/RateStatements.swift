// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkPostgres

/// The SQL of what operators choose for accounts' requests and connections.
struct RateStatements: Sendable {
    /// The columns of ``AccountLimits``, of account `a` in container `k`.
    static let columns = """
        a.request_rate AS account_rate, a.request_burst AS account_burst, k.request_rate AS container_rate,
               k.request_burst AS container_burst, (SELECT request_rate FROM store) AS each_rate,
               (SELECT request_burst FROM store) AS each_burst, a.connections_max AS account_connections,
               (SELECT connections_max FROM store) AS each_connections
        """

    let ofUsers = DeclaredStatement<[UserID], (user: UserID, limits: AccountLimits)>(
        .read, "account_limits",
        """
        SELECT u.id AS user_id, \(columns)
          FROM container_user u
          JOIN account a ON a.id = u.account_id
          JOIN container k ON k.id = u.container_id
         WHERE u.id = ANY (\(\.self))
        """
    ) { row throws(PostgresError) in (try row["user_id"], try AccountLimits(row)) }

    let ofAccount = DeclaredStatement<AccountID, RateChoice>(
        .read, "admin_account_rate",
        "SELECT request_rate, request_burst FROM account WHERE id = \(\.self)"
    ) { row throws(PostgresError) in RateChoice(rate: try row["request_rate"], burst: try row["request_burst"]) }

    /// Of each account for which nothing was chosen.
    let ofEach = DeclaredStatement<Void, RateChoice>(
        .read, "admin_rate_of_each",
        "SELECT request_rate, request_burst FROM store"
    ) { row throws(PostgresError) in RateChoice(rate: try row["request_rate"], burst: try row["request_burst"]) }

    let ofContainer = DeclaredStatement<ContainerKey, RateChoice>(
        .read, "admin_container_rate",
        "SELECT request_rate, request_burst FROM container WHERE identifier = \(\.identifier) AND environment = \(\.environment)"
    ) { row throws(PostgresError) in RateChoice(rate: try row["request_rate"], burst: try row["request_burst"]) }

    let setOfAccount = DeclaredStatement<(account: AccountID, rate: Int32?, burst: Int32?), Void>(
        .write, "set_account_rate",
        "UPDATE account SET request_rate = \(\.rate), request_burst = \(\.burst) WHERE id = \(\.account) RETURNING id")

    let setOfEach = DeclaredStatement<(rate: Int32?, burst: Int32?), Void>(
        .write, "set_rate_of_each",
        "UPDATE store SET request_rate = \(\.rate), request_burst = \(\.burst) RETURNING 1")

    let connections = DeclaredStatement<AccountID, Int32?>(
        .read, "admin_account_connections", "SELECT connections_max FROM account WHERE id = \(\.self)")

    /// Of each account for which nothing was chosen.
    let connectionsOfEach = DeclaredStatement<Void, Int32?>(
        .read, "admin_connections_of_each", "SELECT connections_max FROM store")

    let setConnections = DeclaredStatement<(account: AccountID, count: Int32?), Void>(
        .write, "set_account_connections",
        "UPDATE account SET connections_max = \(\.count) WHERE id = \(\.account) RETURNING id")

    let setConnectionsOfEach = DeclaredStatement<Int32?, Void>(
        .write, "set_connections_of_each", "UPDATE store SET connections_max = \(\.self) RETURNING 1")

    let setOfContainer = DeclaredStatement<(container: ContainerKey, rate: Int32?, burst: Int32?), Void>(
        .write, "set_container_rate",
        """
        UPDATE container SET request_rate = \(\.rate), request_burst = \(\.burst)
         WHERE identifier = \(\.container.identifier) AND environment = \(\.container.environment) RETURNING id
        """)
}

extension AccountLimits {
    /// From the columns of ``RateStatements/columns``.
    init(_ row: PostgresRow) throws(PostgresError) {
        self.init(
            requests: RateChoice(rate: try row["account_rate"], burst: try row["account_burst"]),
            requestsInContainer: RateChoice(rate: try row["container_rate"], burst: try row["container_burst"]),
            requestsOfEach: RateChoice(rate: try row["each_rate"], burst: try row["each_burst"]),
            connections: try row["account_connections"], connectionsOfEach: try row["each_connections"])
    }
}

/// Both columns are null if nothing was chosen, and 0 for any number.
extension RateChoice {
    init(rate: Int32?, burst: Int32?) {
        guard let rate else {
            self = .standard
            return
        }
        let stored = RequestRate(perSecond: Int(rate), burst: burst.map { Int($0) })
        self = stored.map { .atMost($0) } ?? .unlimited
    }

    var storedRate: Int32? {
        switch self {
        case .standard: nil
        case .unlimited: 0
        case .atMost(let rate): Int32(clamping: rate.perSecond)
        }
    }

    var storedBurst: Int32? {
        switch self {
        case .standard: nil
        case .unlimited: 0
        case .atMost(let rate): Int32(clamping: rate.burst)
        }
    }
}
