// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import Testing
import TidemarkHTTP
import TidemarkKit
import TidemarkSockets
import TidemarkTestSupport
import TidemarkTransport

/// What a collector gets of a real server (R-905 … R-908).
@Suite(.timeLimit(.minutes(10))) struct TraceTests {
    /// A span as it came.
    private struct Span {
        let trace: String
        let id: String
        let parent: String?
        let name: String
        let start: Int
        let end: Int
        let attributes: [String: String]

        init?(_ json: [String: Any]) {
            guard let trace = json["traceId"] as? String, let id = json["spanId"] as? String,
                let name = json["name"] as? String,
                let start = (json["startTimeUnixNano"] as? String).flatMap({ Int($0) }),
                let end = (json["endTimeUnixNano"] as? String).flatMap({ Int($0) })
            else { return nil }
            (self.trace, self.id, self.name, self.start, self.end) = (trace, id, name, start, end)
            parent = json["parentSpanId"] as? String
            var attributes: [String: String] = [:]
            for attribute in json["attributes"] as? [[String: Any]] ?? [] {
                let value = attribute["value"] as? [String: String]
                attributes[attribute["key"] as? String ?? ""] = value?.values.first ?? ""
            }
            self.attributes = attributes
        }
    }

    private final class TraceCollector: HTTPHandler {
        private let bodies = Mutex<[[UInt8]]>([])
        private let keys = Mutex<Set<String>>([])

        var text: String { bodies.withLock { $0 }.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "\n") }
        var authorizations: Set<String> { keys.withLock { $0 } }

        var spans: [Span] {
            bodies.withLock { $0 }.flatMap { body -> [Span] in
                let document = (try? JSONSerialization.jsonObject(with: Data(body))) as? [String: Any]
                let resources = document?["resourceSpans"] as? [[String: Any]] ?? []
                let scopes = resources.flatMap { $0["scopeSpans"] as? [[String: Any]] ?? [] }
                return scopes.flatMap { $0["spans"] as? [[String: Any]] ?? [] }.compactMap { Span($0) }
            }
        }

        func decide(_ head: RequestHead, from peer: HTTPPeer) -> HTTPDecision {
            head.path == "/v1/traces" && head.method == "POST"
                ? .take(bodyBytesMax: 4_000_000) : .refuse(.plain(.notFound))
        }

        func answer(_ request: HTTPRequest) async -> HTTPAnswer {
            bodies.withLock { $0.append(request.body) }
            keys.withLock { _ = $0.insert(request.head.fields.onlyValue("Authorization") ?? "none") }
            return .whole(HTTPResponse(.ok, body: Array("{}".utf8)))
        }
    }

    /// Runs `body` with a collector, and the option that names it.
    private func withCollector(_ body: (TraceCollector, [String]) async throws -> Void) async throws {
        let collector = TraceCollector()
        let loop = try EventLoop(name: "collector")
        defer { loop.stop() }
        let server = try await HTTPServer.start(
            on: [loop], addresses: [.loopback(port: 0)], tls: nil, handler: collector)
        let flags = ["--create-containers", "--trace-endpoint", "http://127.0.0.1:\(server.localAddresses[0].port)"]
        do {
            try await body(collector, flags)
        } catch {
            await server.stop()
            throw error
        }
        await server.stop()
    }

    @Test func `R-905, R-906: a save and a query are traces with their UUIDs, and with where their time went`()
        async throws
    {
        try await withCollector { collector, flags in
            let directory = try TestDirectory()
            defer { directory.remove() }
            let secret = "\(directory.path)/authorization"
            try "Bearer secret-4712\n".write(toFile: secret, atomically: true, encoding: .utf8)
            let all = flags + ["--trace-sample", "1", "--trace-authorization-file", secret, "--log-level", "debug"]
            try await OperatorPlace.with(all) { place in
                let database = place.database()
                let zone = try await database.save(CKRecordZone(zoneName: "zone-zebra"))
                let record = CKRecord(
                    recordType: "Note", recordID: CKRecord.ID(recordName: "name-zebra", zoneID: zone.zoneID))
                record["text"] = "text-zebra"
                _ = try await database.save(record)
                let query = CKQuery(recordType: "Note", predicate: NSPredicate(format: "text == %@", "text-zebra"))
                #expect(try await database.records(matching: query, inZoneWith: zone.zoneID).matchResults.count == 1)
                try await eventually("the traces come") {
                    let names = Set(collector.spans.filter { $0.parent == nil }.map(\.name))
                    return names.isSuperset(of: ["hello", "modify_zones", "modify_records", "query_records"])
                }
                let spans = collector.spans
                for kind in ["modify_records", "query_records"] {
                    let whole = try #require(spans.first { $0.parent == nil && $0.name == kind })
                    #expect(whole.attributes["tidemark.result"] == "ok" && whole.attributes["tidemark.account"] != nil)
                    let uuid = try #require(whole.attributes["tidemark.request"])
                    #expect(uuid.lowercased().replacingOccurrences(of: "-", with: "") == whole.trace)
                    // The log names the request alike.
                    try await eventually("the request is in the log") {
                        place.server.output.contains("request=\(uuid)")
                    }
                    let parts = spans.filter { $0.trace == whole.trace && $0.parent == whole.id }
                    #expect(parts.contains { $0.name == "store" } && parts.contains { $0.name == "answer" }, "\(parts)")
                    #expect(parts.allSatisfy { $0.start >= whole.start && $0.end <= whole.end }, "\(parts)")
                    let statements = parts.compactMap { $0.attributes["db.query.text"] }
                    #expect(statements.isEmpty == (kind == "modify_records"), "\(statements)")
                    #expect(statements.allSatisfy { $0.hasPrefix("SELECT ") && $0.contains("$1") }, "\(statements)")
                }
                #expect(collector.authorizations == ["Bearer secret-4712"])
                #expect(!place.server.output.contains("secret-4712"))
                for word in ["zebra", "alice", "iCloud"] { #expect(!collector.text.contains(word), "\(word)") }
            }
        }
    }

    @Test func `R-905: a server traces nothing without a collector, and the chosen part with one`() async throws {
        try await withCollector { collector, flags in
            try await OperatorPlace.with(flags + ["--trace-sample", "0"]) { place in
                _ = try await place.database().save(CKRecordZone(zoneName: "Notes"))
            }
            // The server has ended, and what it had to send would be here.
            #expect(collector.spans.isEmpty)
        }
    }

    @Test func `R-907: a server that stops sends what is left, and one whose collector is away stops in time`()
        async throws
    {
        try await withCollector { collector, flags in
            try await OperatorPlace.with(flags + ["--trace-sample", "1"]) { place in
                _ = try await place.database().save(CKRecordZone(zoneName: "Notes"))
            }
            #expect(collector.spans.contains { $0.name == "modify_zones" })
        }
        // Nobody listens at port 1.
        let flags = ["--create-containers", "--trace-endpoint", "http://127.0.0.1:1", "--trace-sample", "1"]
        try await OperatorPlace.with(flags) { place in
            _ = try await place.database().save(CKRecordZone(zoneName: "Notes"))
            try await eventually("the log tells it") {
                place.server.output.contains("spans were not sent to the collector")
            }
        }
    }

    @Test(arguments: [
        (["--trace-endpoint", "127.0.0.1:4318"], "--trace-endpoint takes a URL such as http://127.0.0.1:4318"),
        (["--trace-endpoint", "http://192.0.2.1:4318"], "is not on this machine. Use https"),
        (["--trace-sample", "0.5"], "are for --trace-endpoint. Give that too."),
        (["--trace-endpoint", "http://127.0.0.1", "--trace-sample", "2"], "--trace-sample must be between 0 and 1"),
        (["--trace-endpoint", "http://127.0.0.1", "--trace-sample", "nan"], "--trace-sample must be between 0 and 1"),
        (
            ["--trace-endpoint", "http://127.0.0.1", "--trace-authorization-file", "/none"],
            "The file of --trace-authorization-file cannot be read: /none."
        ),
        (
            ["--trace-endpoint", "http://127.0.0.1", "--trace-authorization-file", "/dev/null"],
            "must be the value of Authorization"
        ),
    ])
    func `R-908: options of traces without a meaning are refused`(flags: [String], text: String) async throws {
        let place = try TestDirectory()
        defer { place.remove() }
        let serve = ["serve", "--listen", "127.0.0.1:0", "--plain", "--database-url", "x"]
        let (status, output) = try await Program.run(
            "tidemark", serve + flags, environment: [:], directory: place.path, within: .seconds(30))
        #expect(status != 0 && output.contains(text), "\(output)")
    }
}
