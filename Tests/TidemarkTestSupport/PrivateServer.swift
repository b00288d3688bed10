// SPDX-License-Identifier: Apache-2.0

internal import Foundation
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

extension LocalPostgres {
    /// Kills all of its processes, as the end of the machine would. It starts again by itself.
    ///
    /// The first process is stopped before: it starts no more, and keeps the process IDs of its children from others.
    package func killNow() {
        let first = processID
        guard first > 0 else { return }
        kill(first, SIGSTOP)
        for child in Self.children(of: first) { kill(child, SIGKILL) }
        kill(first, SIGKILL)
    }

    private static func children(of parent: Int32) -> [Int32] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return names.compactMap { Int32($0) }.filter { id in
            // proc_pid_stat(5): the state and the parent follow the name in parentheses.
            guard let text = try? String(contentsOfFile: "/proc/\(id)/stat", encoding: .utf8),
                let end = text.lastIndex(of: ")")
            else { return false }
            return text[end...].split(separator: " ").dropFirst(2).first.flatMap { Int32($0) } == parent
        }
    }
}
