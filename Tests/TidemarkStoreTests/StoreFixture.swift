// SPDX-License-Identifier: Apache-2.0

import TidemarkPostgres
import TidemarkService
import TidemarkSockets
import TidemarkStore
import TidemarkTestSupport

/// A database with all migrations, and the loop that its connections live on.
struct StoreFixture {
    let database: TestDatabase
    let loop: EventLoop

    static let template = TestTemplate(name: "migrated") { url in
        let loop = try EventLoop(name: "migrate")
        defer { loop.stop() }
        _ = try await Migrator(url: url, loop: loop).migrate()
    }

    /// Runs `body`, and closes what it opened.
    static func run(_ body: (StoreFixture) async throws -> Void) async throws {
        let loop = try EventLoop(name: "store")
        defer { loop.stop() }
        try await body(StoreFixture(database: try await TestPostgres.database(template), loop: loop))
    }

    func storage(connections: Int = 4) throws -> PostgresStorage {
        try PostgresStorage(url: database.url, loop: loop, connections: connections, queryTimes: .patient)
    }
}
