// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A statement that is made once and prepared by each connection on first use. ``DeclaredStatement`` makes it of SQL that names
/// its parameters, and is how the store declares its own:
///
///     let lockZone = DeclaredStatement<ZoneID, Void>(.read, "lock_zone", "SELECT … WHERE id = \(\.self) FOR UPDATE")
///
/// NB: a class, for the same reason as ``DeclaredStatement``.
package final class Statement: Sendable {
    /// What it means to run the statement outside a transaction.
    package enum Effect: Sendable {
        case begin, commit, rollback
        /// Changes nothing that a lost connection could leave in doubt. A lock counts as reading.
        case read
        case write
    }

    /// How connections keep a prepared statement.
    enum Keeping: Sendable {
        /// Prepared as long as the connection lasts. The number is small, and unique among statements of this kind.
        case always(id: Int)
        /// Prepared until a statement with another number takes the place of this name.
        case inPlace(number: Int)
        /// Not prepared: it is parsed each time.
        case never
    }

    /// The statement's name with a number, so that names never clash.
    let serverName: String
    let sql: String
    let parameterTypes: [PostgresType]
    /// How the parameters are called, for people; empty: nobody says it. It is asked for by whoever debugs alone.
    let parameterNames: @Sendable () -> [String]
    let effect: Effect
    let keeping: Keeping

    private static let nextID = Atomic<Int>(0)
    private static let nextNumber = Atomic<Int>(0)

    /// - Parameters:
    ///   - effect: what it means to run it outside a transaction.
    ///   - name: for logs and for `pg_prepared_statements`; letters and underscores.
    ///   - sql: one statement; its parameters are `$1`, `$2`, …
    ///   - parameterTypes: the type of each parameter.
    ///   - names: how the parameters are called, for people.
    ///   - isPrepared: false for a statement that is built at run time and may not come again. It is parsed each time,
    ///     and leaves nothing in the connection.
    package convenience init(
        _ effect: Effect, _ name: String, _ sql: String, _ parameterTypes: [PostgresType] = [],
        names: @escaping @Sendable () -> [String] = { [] }, isPrepared: Bool = true
    ) {
        let id = isPrepared ? Self.nextID.add(1, ordering: .relaxed).oldValue : nil
        self.init(effect, "\(name)_\(id ?? 0)", sql, parameterTypes, id.map { .always(id: $0) } ?? .never, names)
    }

    /// A statement that is built at run time, and stays prepared until another takes its place. So each connection
    /// keeps as many of them as there are places. A batch has at most one statement of each place.
    ///
    /// - Parameters:
    ///   - name: of the places. Only statements of this kind have it.
    ///   - place: from 0.
    package convenience init(
        _ effect: Effect, _ name: String, _ sql: String, _ parameterTypes: [PostgresType], place: Int
    ) {
        let number = Self.nextNumber.add(1, ordering: .relaxed).oldValue
        self.init(effect, "\(name)_at_\(place)", sql, parameterTypes, .inPlace(number: number))
    }

    private init(
        _ effect: Effect, _ serverName: String, _ sql: String, _ parameterTypes: [PostgresType], _ keeping: Keeping,
        _ names: @escaping @Sendable () -> [String] = { [] }
    ) {
        parameterNames = names
        self.effect = effect
        self.serverName = serverName
        self.sql = sql
        self.parameterTypes = parameterTypes
        self.keeping = keeping
    }

    var isPrepared: Bool {
        if case .never = keeping { false } else { true }
    }

    /// The statement with values for its parameters, in order.
    package func callAsFunction(_ values: PostgresValue...) -> BoundStatement {
        bind(values)
    }

    /// As `statement(…)`, for a list of values.
    package func bind(_ values: [PostgresValue]) -> BoundStatement {
        precondition(values.count == parameterTypes.count, "\(serverName): the number of values is wrong")
        for (value, type) in zip(values, parameterTypes) {
            precondition(value.type == nil || value.type == type, "\(serverName): a value has the wrong type")
        }
        return BoundStatement(statement: self, values: values)
    }
}

/// A statement ready to be sent.
package struct BoundStatement: Sendable {
    let statement: Statement
    let values: [PostgresValue]

    package static let begin = Statement(.begin, "begin", "BEGIN")()
    /// All that follows up to the COMMIT reads one snapshot.
    package static let beginSnapshot = Statement(
        .begin, "begin_snapshot", "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")()
    package static let commit = Statement(.commit, "commit", "COMMIT")()
    package static let rollback = Statement(.rollback, "rollback", "ROLLBACK")()
}
