// SPDX-License-Identifier: Apache-2.0

import Foundation
import SessionTestSupport
import Testing
import TidemarkServer
import TidemarkTelemetry
import TidemarkTestSupport
import TidemarkWire

/// What a server exports after it has served. Other servers of this process count, too: what is expected is the least.
@Suite struct MetricsTests {
    static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
    }

    /// A scrape of a server with TLS, after saves, fetches and pushes.
    static func scrape() async throws -> (text: String, metrics: MetricsScrape) {
        var text = ""
        try await withLiveWorld { world in
            let directory = world.directory.path
            try await world.withServer({ $0.assetDirectory = directory + "/assets" }) { server in
                try await serve(world, server)
                text = Measurements.text
            }
        }
        return (text, try MetricsScrape(text))
    }

    private static func serve(_ world: LiveWorld, _ server: Server) async throws {
        let client = try await world.enter(server: server)
        try await client.makeZone("notes")
        try await client.subscribe()
        let other = try await world.enter(device: 2, server: server)
        try await client.save(["a"], in: "notes")
        _ = try await other.pushes(1)
        #expect(try await other.names(in: "notes") == ["a"])
        var refused = try client.saving(["a"], in: "notes")
        refused.policy = .ifServerRecordUnchanged
        let answer = try await client.ask(.modifyRecords(refused))
        #expect(answer.modifyRecords.zones.first?.saves.first?.failure.failure.code == .serverRecordChanged)
        // Not a TLS hello.
        let plain = try await world.connect(to: server, isEncrypted: false)
        _ = try await plain.wait(for: "the end") { $0.closed.map { _ in true } }
    }

    /// The rows of docs/metrics.md: type, labels and meaning by name.
    private static func rows() throws -> [String: [String]] {
        var rows: [String: [String]] = [:]
        for line in try text("docs/metrics.md").split(separator: "\n") where line.hasPrefix("| `") {
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            guard cells.count == 4 else { continue }
            let labels = cells[2].matches(of: /`([^`]+)`/).map { String($0.1) }
            let row = [cells[1], labels.sorted().joined(separator: " "), cells[3]]
            let old = rows.updateValue(row, forKey: cells[0].replacing("`", with: ""))
            #expect(old == nil, "\(cells[0]) has two rows")
        }
        return rows
    }

    @Test func `R-817: docs/metrics.md has each metric of a server that has served, and no other`() async throws {
        let metrics = try await Self.scrape().metrics
        var rows = try Self.rows()
        // Other tests of the process have some that begin so.
        for family in metrics.families where !family.name.hasPrefix("test_") {
            let labels = family.labels.sorted()
            let row =
                "| `\(family.name)` | \(family.type) | "
                + (labels.isEmpty ? "–" : labels.map { "`\($0)`" }.joined(separator: ", ")) + " | \(family.help) |"
            let found = rows.removeValue(forKey: family.name)
            #expect(found == [family.type, labels.joined(separator: " "), family.help], "the row is: \(row)")
        }
        #expect(rows.isEmpty, "no server has \(rows.keys.sorted())")
    }

    @Test func `R-814, R-815, R-816: a save, a refused save, a fetch and a push are counted by a server`() async throws
    {
        let before = try MetricsScrape(Measurements.text)
        let now = try await Self.scrape().metrics
        func expectMore(_ name: String, _ labels: [String: String] = [:]) {
            let more = (now.value(name, labels) ?? 0) - (before.value(name, labels) ?? 0)
            #expect(more >= 1, "\(name) \(labels)")
        }
        for (request, result) in [
            ("hello", "ok"), ("modify_records", "ok"), ("modify_records", "server_record_changed"),
            ("fetch_zone_changes", "ok"), ("modify_zones", "ok"), ("modify_subscriptions", "ok"),
        ] {
            expectMore("tidemark_requests_total", ["request": request, "result": result])
            expectMore("tidemark_request_seconds_count", ["request": request])
        }
        let pushes = ["changes", "hint"].map { content in
            let labels = ["content": content]
            return (now.value("tidemark_pushes_sent_total", labels) ?? 0)
                - (before.value("tidemark_pushes_sent_total", labels) ?? 0)
        }
        #expect(pushes.reduce(0, +) >= 1)
        expectMore("tidemark_connections_accepted_total", ["listener": "clients"])
        for result in ["full", "resumed", "failed"] { expectMore("tidemark_tls_handshakes_total", ["result": result]) }
        expectMore("tidemark_tls_handshake_seconds_count")
        expectMore("tidemark_connections_failed_total")
        expectMore("tidemark_write_group_requests_count")
        expectMore("tidemark_postgres_wait_seconds_count", ["pool": "write"])
        expectMore("tidemark_postgres_wait_seconds_count", ["pool": "read"])
        #expect((now.value("tidemark_sessions_open", ["caller": "account"]) ?? 0) >= 2)
        #expect((now.value("tidemark_connections_open", ["listener": "clients"]) ?? 0) >= 2)
        #expect((now.value("tidemark_postgres_connections_open", ["pool": "write"]) ?? 0) >= 1)
    }

    @Test func `R-818: what a server knows of its process, its certificate and its disk`() async throws {
        let start = Date().timeIntervalSince1970
        let metrics = try await Self.scrape().metrics
        func value(_ name: String) -> Double { metrics.value(name) ?? -1 }
        #expect(metrics.value("tidemark_build_info", ["version": Server.version]) == 1)
        #expect(value("tidemark_store_migration_version") >= 1)
        #expect((start - 86_400...start + 60).contains(value("process_start_time_seconds")))
        #expect(value("process_open_fds") >= 10 && value("process_open_fds") < value("process_max_fds"))
        #expect(value("process_resident_memory_bytes") > 1_000_000)
        #expect(value("process_cpu_seconds_total") > 0)
        for budget in ["requests", "writes"] {
            let limit = metrics.value("tidemark_memory_budget_limit_bytes", ["budget": budget]) ?? 0
            let used = metrics.value("tidemark_memory_budget_used_bytes", ["budget": budget]) ?? -1
            #expect(limit > 1_000_000 && used >= 0 && used <= limit, "\(budget)")
        }
    }

    private static let promtool = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        .map { "\($0)/promtool" }.first(where: FileManager.default.isExecutableFile)

    @Test(.enabled(if: promtool != nil, "promtool is not installed"))
    func `R-818: promtool finds nothing wrong with what a server exports`() async throws {
        let text = try await Self.scrape().text
        let directory = try TestDirectory()
        defer { directory.remove() }
        let file = URL(fileURLWithPath: directory.path + "/metrics.txt")
        // Those of other tests have odd names.
        let own = text.split(separator: "\n").filter { !$0.contains("test_") }.joined(separator: "\n") + "\n"
        try own.write(to: file, atomically: true, encoding: .utf8)
        let (status, said) = try Self.askPromtool(["check", "metrics"], input: try FileHandle(forReadingFrom: file))
        #expect(status == 0, "\(said)")
    }

    @Test(.enabled(if: promtool != nil, "promtool is not installed"))
    func `R-819: promtool finds nothing wrong with the alerts`() throws {
        let alerts = Self.root.appendingPathComponent("deploy/alerts.yaml").path
        let (status, said) = try Self.askPromtool(["check", "rules", "--lint-fatal", alerts])
        #expect(status == 0, "\(said)")
    }

    private static func askPromtool(
        _ arguments: [String], input: FileHandle = .nullDevice
    ) throws -> (status: Int32, said: String) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: try #require(promtool))
        process.arguments = arguments
        process.standardInput = input
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        try process.start()
        let said = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationStatus, said)
    }
}
