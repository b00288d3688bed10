// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
package import TidemarkLocalPostgres

/// What a server of a test has told.
package final class ServerEvents: Sendable {
    private let stored = Mutex<[LocalPostgres.Event]>([])

    package var all: [LocalPostgres.Event] { stored.withLock { $0 } }

    package func append(_ event: LocalPostgres.Event) {
        stored.withLock { $0.append(event) }
    }
}

/// A directory that is removed after the test.
package func withTestDirectory<Result>(_ body: (_ path: String) async throws -> Result) async throws -> Result {
    let directory = try TestDirectory()
    defer { directory.remove() }
    return try await body(directory.path)
}

/// A PostgreSQL of the test's own, which it may kill.
package func withServer<Result>(
    _ body: (LocalPostgres, _ path: String, ServerEvents) async throws -> Result
) async throws -> Result {
    try await withTestDirectory { path in
        let events = ServerEvents()
        let server = try await blocking {
            try LocalPostgres.start(dataDirectory: path, durability: .fast) { events.append($0) }
        }
        do {
            let result = try await body(server, path, events)
            try await blocking { server.stop() }
            return result
        } catch {
            try await blocking { server.stop() }
            throw error
        }
    }
}
