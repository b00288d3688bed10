// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
package import TidemarkServer
internal import TidemarkService
package import TidemarkSockets
package import TidemarkStore
package import TidemarkTelemetry

/// All that a command may use: the store, and the operator's screen. The same command runs in `tidemark admin` and inside
/// a server, so it must not print, and must not read files, variables or other globals by itself.
package final class Console: Sendable {
    package let store: AdminStore
    package let storage: PostgresStorage
    package let loop: EventLoop
    /// The form of the output and what is asked, without the store.
    package let screen: Screen
    /// Who gives the command.
    package let operatorIdentity: OperatorIdentity
    /// How the command is named in the audit, in the log of a server, and with the changes that it makes.
    package let command: RequestUUID
    /// Whether the database has this version's tables.
    let isMigrated: Bool
    /// Those of the server in which the command runs; nil: it runs beside the database.
    let serverLimits: Limits?
    /// Likewise of connections.
    let serverConnections: ConnectionLimits?
    /// What the operator may do. Beside the database that is everything.
    let role: OperatorRole
    private let containerName: String?
    private let environment: ContainerEnvironment

    /// - Parameters:
    ///   - container: from `--container`, the environment or the context; nil if none says it.
    ///   - environment: likewise.
    ///   - operatorIdentity: who gives the command, for the audit.
    ///   - command: the command's UUID. Each command has another one.
    ///   - isMigrated: whether the database has this version's tables.
    ///   - serverLimits: those of the server in which the command runs; nil: it runs in none.
    ///   - serverConnections: likewise of connections.
    ///   - role: of who gives the command.
    package init(
        _ storage: PostgresStorage, loop: EventLoop, screen: Screen, container: String?,
        environment: ContainerEnvironment, operatorIdentity: OperatorIdentity = OperatorIdentity(name: ""),
        command: RequestUUID = .random(), isMigrated: Bool = true, serverLimits: Limits? = nil,
        serverConnections: ConnectionLimits? = nil, role: OperatorRole = .owner
    ) {
        self.role = role
        self.storage = storage
        self.loop = loop
        self.operatorIdentity = operatorIdentity
        self.command = command
        self.screen = screen
        self.isMigrated = isMigrated
        self.serverLimits = serverLimits
        self.serverConnections = serverConnections
        store = AdminStore(storage)
        containerName = container
        self.environment = environment
    }

    package var output: OutputFormat { screen.output }
    package var isDryRun: Bool { screen.isDryRun }

    /// The time of the store's clock, from which commands compute.
    package var now: Timestamp { Timestamp(milliseconds: loop.wallClockMilliseconds) }

    /// Whether the command, a variable or the context names a container.
    package var namesContainer: Bool { containerName != nil }

    /// The container in which the command acts.
    ///
    /// - Throws: ``AdminFailure`` if neither the command nor the context names one.
    package func container() throws(AdminFailure) -> ContainerKey {
        guard let containerName else {
            throw AdminFailure(
                .usage,
                "Missing --container: give it, set TIDEMARK_CONTAINER, or select a context that has one. See: tidemark "
                    + "admin containers list")
        }
        return try key(containerName)
    }

    /// A container that the command names itself, in the environment of the command or the context.
    package func key(_ identifier: String) throws(AdminFailure) -> ContainerKey {
        try Self.requireIdentifier(identifier)
        return ContainerKey(identifier: identifier, environment: environment)
    }

    /// - Throws: ``AdminFailure`` if no container can have this identifier.
    static func requireIdentifier(_ identifier: String) throws(AdminFailure) {
        guard (1...255).contains(identifier.utf8.count), identifier.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else {
            throw AdminFailure(
                .usage, "A container's identifier is 1 to 255 printable ASCII characters without spaces.")
        }
    }

    /// - Throws: ``AdminFailure`` if there is no such account.
    package func account(_ name: String) async throws -> AccountID {
        guard let account = try await store.account(named: name) else {
            throw AdminFailure.noAccount(name)
        }
        return account
    }

    /// Rows of a list, or of a stream: may be called several times; the table's head is written once.
    package func show<Row: Sendable>(_ rows: [Row], as columns: [Column<Row>]) async throws {
        try await screen.show(rows, as: columns)
    }

    /// Text that has a form of its own whatever `--output` says, such as a schema.
    package func write(_ text: String) async throws { try await screen.write(text) }

    /// A message for people, to standard error.
    package func say(_ text: String) { screen.say(text) }

    /// Call it before anything is changed that nobody needs to confirm. See ``Screen/plan(_:)``.
    package func plan(_ action: String) throws { try screen.plan(action) }

    /// Asks before something is destroyed. `loss` says in numbers what will be lost. With `--yes` it passes. With
    /// `--dry-run` it says what would be lost and throws the quiet end. Where nobody can be asked, it throws with exit
    /// status 2.
    package func confirm(_ action: String, loss: String, typing name: String? = nil) async throws {
        try await screen.confirm(action, loss: loss, typing: name)
    }
}
