// SPDX-License-Identifier: Apache-2.0

package import TidemarkSockets
package import TidemarkStore

/// The store of a database, with the thread that talks to it.
package struct AdminConnection: Sendable {
    package let loop: EventLoop
    package let storage: PostgresStorage
    /// Whether the database had this version's tables when it was opened.
    let isMigrated: Bool

    package init(url: String) async throws {
        let loop = try EventLoop(name: "admin")
        do {
            isMigrated = try await Migrator(url: url, loop: loop).isCurrent()
            storage = try PostgresStorage(
                url: url, loop: loop, connections: 1, readConnections: 1, queryTimes: .patient)
        } catch {
            loop.stop()
            throw error
        }
        self.loop = loop
    }

    func requireMigrations() throws(AdminFailure) {
        guard isMigrated else {
            throw AdminFailure(
                .refused,
                "The database does not have this version's tables: run `tidemark migrate` with the same database URL "
                    + "first.")
        }
    }

    /// - Parameter cancels: whether PostgreSQL ends the statement under way.
    package func close(cancels: Bool = false) async {
        await storage.stop(cancels: cancels)
        loop.stop()
    }
}

/// A connection that the commands of a console share: the one to the database of the last command.
package actor KeptConnection {
    private var open: (url: String, connection: AdminConnection)?

    package init() {}

    func connection(to url: String) async throws -> AdminConnection {
        // A database without this version's tables may have got them meanwhile, so it is looked at again.
        if let open, open.url == url, open.connection.isMigrated { return open.connection }
        await close()
        let connection = try await AdminConnection(url: url)
        // A command that was abandoned meanwhile must not take the connection of the one that runs now.
        if Task.isCancelled {
            await connection.close()
            throw CancellationError()
        }
        // Another caller may have opened one meanwhile.
        if let open {
            if open.url == url {
                await connection.close()
                return open.connection
            }
            abandon()
        }
        open = (url, connection)
        return connection
    }

    package func close() async {
        guard let connection = open?.connection else { return }
        open = nil
        await connection.close()
    }

    /// Closes it without waiting for the statement under way. The next command opens another one.
    package func abandon() {
        guard let connection = open?.connection else { return }
        open = nil
        Task.detached { await connection.close(cancels: true) }
    }
}
