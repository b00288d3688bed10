// SPDX-License-Identifier: Apache-2.0

internal import TidemarkPostgres
package import TidemarkService

/// What a look for servers from before shared hierarchies sees.
package struct OlderServersSight: Sendable, Equatable {
    /// The servers to which each living share is that of a whole zone.
    package let servers: [ListeningServer]
    /// Whether no server of before is to be expected, if none is seen: the database was made by one run of a program that knows
    /// hierarchies, or both the migration and the start of PostgreSQL were an hour ago.
    package let isSettled: Bool

    package init(servers: [ListeningServer], isSettled: Bool) {
        self.servers = servers
        self.isSettled = isSettled
    }
}

extension PostgresStorage {
    /// Looks which servers are connected that do not know shared hierarchies.
    package func olderServers() async throws(StorageError) -> OlderServersSight {
        let (names, settled) = try await readAll(
            sql.notices.listeners(AdminStore.serversMax), sql.migrations.settled(Migrations.hierarchies))
        return OlderServersSight(
            servers: names.rows.compactMap(ListeningServer.init(connection:))
                .filter { $0.isOlder(than: Migrations.hierarchies) },
            isSettled: settled.rows == [true])
    }
}
