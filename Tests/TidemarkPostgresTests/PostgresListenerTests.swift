// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Synchronization
internal import Testing
internal import TidemarkSockets
internal import TidemarkTestSupport

@testable internal import TidemarkPostgres

@Suite struct PostgresListenerTests {
    /// What a listener has told.
    private final class Ear: Sendable {
        let payloads = Mutex<[String]>([])
        let listeningCount = Mutex(0)

        func listen(_ pool: PostgresPool, url: String, channel: String) throws -> PostgresListener {
            try PostgresListener(
                url: url, loop: pool.loop, channel: channel, applicationName: "listener",
                pingInterval: .milliseconds(100), answerTimeout: .milliseconds(300),
                onNotification: { payload in self.payloads.withLock { $0.append(payload) } },
                onListening: { self.listeningCount.withLock { $0 += 1 } })
        }

        func isListening(_ count: Int) -> Bool { listeningCount.withLock { $0 } >= count }
    }

    private static let notify = Statement(.read, "notify", "SELECT pg_notify($1, $2)", [.text, .text])
    private static let listenerBackend = Statement(
        .read, "listener_backend",
        """
        SELECT pid FROM pg_stat_activity WHERE application_name = 'listener' AND datname = current_database()
         ORDER BY backend_start DESC
        """)
    private static let terminate = Statement(.read, "terminate", "SELECT pg_terminate_backend($1, 5000)", [.int4])

    private func withListener(
        _ body: (PostgresPool, Ear, _ channel: String) async throws -> Void
    ) async throws {
        let url = try await TestPostgres.database().url
        try await withPool(url: url) { pool in
            let ear = Ear()
            let channel = "an \"odd\" Channel"
            let listener = try ear.listen(pool, url: url, channel: channel)
            defer { listener.stop() }
            try await eventually { ear.isListening(1) }
            try await body(pool, ear, channel)
        }
    }

    @Test func `what is notified arrives in order, across pings`() async throws {
        try await withListener { pool, ear, channel in
            for number in 0..<100 {
                _ = try await pool.execute([Self.notify(.text(channel), .text("\(number)"))])
                if number == 50 { try await Task.sleep(for: .milliseconds(250)) }
            }
            try await eventually { ear.payloads.withLock { $0.count } == 100 }
            #expect(ear.payloads.withLock { $0 } == (0..<100).map { "\($0)" })
            #expect(ear.listeningCount.withLock { $0 } == 1)
        }
    }

    @Test func `after a loss it listens again and says so`() async throws {
        try await withListener { pool, ear, channel in
            let pid = try await pool.execute([Self.listenerBackend()])[0][0].int32(0)
            _ = try await pool.execute([Self.terminate(.int4(pid))])
            try await eventually { ear.isListening(2) }
            _ = try await pool.execute([Self.notify(.text(channel), .text("back"))])
            try await eventually { ear.payloads.withLock { $0 } == ["back"] }
        }
    }

    @Test func `a server that does not answer any more is left`() async throws {
        try await withListener { pool, ear, channel in
            let pid = try await pool.execute([Self.listenerBackend()])[0][0].int32(0)
            kill(pid, SIGSTOP)
            defer { kill(pid, SIGCONT) }
            try await eventually { ear.isListening(2) }
            _ = try await pool.execute([Self.notify(.text(channel), .text("back"))])
            try await eventually { ear.payloads.withLock { $0 } == ["back"] }
        }
    }
}
