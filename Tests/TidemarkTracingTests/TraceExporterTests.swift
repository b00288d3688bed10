// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import Testing
import TidemarkHTTP
import TidemarkSockets
import TidemarkTelemetry
import TidemarkTestSupport
import TidemarkTransport

@testable import TidemarkTracing

/// A collector that answers as a test wants.
private final class Collector: HTTPHandler {
    struct Received: Sendable {
        let path: String
        let authorization: String?
        let type: String?
        let spanNames: [String]
    }

    private let answers: Mutex<[HTTPResponse]>
    private let all = Mutex<[Received]>([])
    /// Answered never, so that it is slow.
    private let isSilent: Bool

    /// - Parameter answers: one after another; then 200.
    init(_ answers: [HTTPResponse] = [], isSilent: Bool = false) {
        self.answers = Mutex(answers)
        self.isSilent = isSilent
    }

    var received: [Received] { all.withLock { $0 } }

    func decide(_ head: RequestHead, from peer: HTTPPeer) -> HTTPDecision { .take(bodyBytesMax: 4_000_000) }

    func answer(_ request: HTTPRequest) async -> HTTPAnswer {
        let document = (try? JSONSerialization.jsonObject(with: Data(request.body))) as? [String: Any]
        let resource = (document?["resourceSpans"] as? [[String: Any]])?.first
        let scope = (resource?["scopeSpans"] as? [[String: Any]])?.first
        let names = (scope?["spans"] as? [[String: Any]])?.compactMap { $0["name"] as? String }
        let fields = request.head.fields
        all.withLock {
            $0.append(
                Received(
                    path: request.head.path, authorization: fields.onlyValue("Authorization"),
                    type: fields.onlyValue("Content-Type"), spanNames: names ?? ["no JSON"]))
        }
        if isSilent { await forever() }
        return .whole(answers.withLock { $0.isEmpty ? HTTPResponse(.ok, body: Array("{}".utf8)) : $0.removeFirst() })
    }

    /// Until the connection ends, which cancels it.
    private func forever() async {
        let (stream, continuation) = AsyncStream<Void>.makeStream()
        for await _ in stream {}
        withExtendedLifetime(continuation) {}
    }
}

@Suite(.serialized, .timeLimit(.minutes(10))) struct TraceExporterTests {
    /// Runs a collector, and an exporter for it whose pauses are short.
    private func run(
        _ collector: Collector, limits: HTTPLimits = HTTPLimits(),
        _ change: (inout TraceExporter.Settings) -> Void = { _ in },
        _ body: (TraceExporter) async throws -> Void
    ) async throws {
        let loop = try EventLoop(name: "collector")
        defer { loop.stop() }
        let server = try await HTTPServer.start(
            on: [loop], addresses: [.loopback(port: 0)], tls: nil, limits: limits, handler: collector)
        let port = server.localAddresses[0].port
        do {
            let exporter = try makeExporter(port: port, change)
            try await body(exporter)
        } catch {
            await server.stop()
            throw error
        }
        await server.stop()
    }

    private func makeExporter(
        port: UInt16, _ change: (inout TraceExporter.Settings) -> Void
    ) throws -> TraceExporter {
        var settings = TraceExporter.Settings(endpoint: try TraceEndpoint("http://127.0.0.1:\(port)"))
        settings.bounds.batchDelay = .milliseconds(5)
        settings.bounds.pauseMin = .milliseconds(5)
        settings.bounds.pauseMax = .milliseconds(20)
        settings.patience = .seconds(30)
        change(&settings)
        return try TraceExporter(settings, encoder: TraceEncoder(resource: [:], version: "1"), tls: nil)
    }

    private func count(_ result: TracingMetrics.SpanResult) -> Int { TracingMetrics.shared.spans.value(result) }

    @Test func `R-907: spans come to the collector in batches, with what it wants to see`() async throws {
        let collector = Collector()
        let sent = count(.sent)
        try await run(collector, { $0.authorization = "Bearer secret" }) { exporter in
            exporter.add(.some(1, named: "a"))
            exporter.add(.some(2, named: "b"))
            try await eventually { collector.received.flatMap(\.spanNames).count == 2 }
            exporter.add(.some(3, named: "c"))
            // The end sends what is left.
            await exporter.stop()
        }
        #expect(collector.received.flatMap(\.spanNames) == ["a", "b", "c"])
        for request in collector.received {
            #expect(request.path == "/v1/traces" && request.authorization == "Bearer secret")
            #expect(request.type == "application/json")
        }
        #expect(count(.sent) == sent + 3)
    }

    @Test(arguments: [429, 502, 503, 504])
    func `R-907: a collector that cannot take spans now gets them again`(_ status: Int) async throws {
        let busy = HTTPResponse(HTTPStatus(status, "Busy"), fields: HeaderFields([("Retry-After", "0")]))
        let collector = Collector([busy, busy])
        let sent = count(.sent)
        try await run(collector) { exporter in
            exporter.add(.some(1, named: "a"))
            try await eventually { count(.sent) == sent + 1 }
            await exporter.stop()
        }
        #expect(collector.received.map(\.spanNames) == [["a"], ["a"], ["a"]])
    }

    @Test func `R-907: what a collector has taken is not sent again, however much it says`() async throws {
        let long = Array(String(repeating: "x", count: 200_000).utf8)
        let collector = Collector([HTTPResponse(.ok, body: long)])
        let sent = count(.sent)
        try await run(collector) { (exporter: TraceExporter) async throws in
            exporter.add(.some(1, named: "a"))
            try await eventually(within: .seconds(60)) { count(.sent) == sent + 1 }
            exporter.add(.some(2, named: "b"))
            await exporter.stop()
        }
        #expect(collector.received.map(\.spanNames) == [["a"], ["b"]])
        #expect(count(.sent) == sent + 2)
    }

    @Test func `R-907: spans that a collector has rejected are counted, and the log says so once in a minute`()
        async throws
    {
        let partial = HTTPResponse(
            .ok, body: Array(#"{"partialSuccess":{"rejectedSpans":"2","errorMessage":"too old"}}"#.utf8))
        let collector = Collector([partial, partial])
        let lines = Mutex<[String]>([])
        let failures = FailureLog(now: { .seconds(1) }) { level, text, pairs in
            lines.withLock { $0.append("\(level) \(text) \(pairs["rejected"] ?? pairs["repeats"] ?? "")") }
        }
        let (sent, refused) = (count(.sent), count(.refused))
        let change = { (settings: inout TraceExporter.Settings) in
            settings.failures = failures
            // Three spans are sent at once, and fewer later.
            settings.bounds.batchSpansMax = 3
            settings.bounds.batchDelay = .seconds(600)
        }
        try await run(collector, change) { (exporter: TraceExporter) async throws in
            for round in 1...2 {
                for number in 1...3 as ClosedRange<UInt64> { exporter.add(.some(number)) }
                try await eventually(within: .seconds(60)) { count(.refused) == refused + 2 * round }
            }
            await exporter.stop()
        }
        #expect(count(.sent) == sent + 2)
        #expect(lines.withLock { $0 } == ["warning the collector did not take all spans 2"])
        failures.end()
        #expect(lines.withLock { $0 }.last == "warning the collector did not take all spans 1")
    }

    @Test(arguments: [400, 401, 404, 413, 500, 301])
    func `R-907: spans that a collector refuses are dropped, and others follow`(_ status: Int) async throws {
        let collector = Collector([HTTPResponse(HTTPStatus(status, "No"))])
        let (sent, refused) = (count(.sent), count(.refused))
        try await run(collector) { exporter in
            exporter.add(.some(1, named: "a"))
            try await eventually { count(.refused) == refused + 1 }
            exporter.add(.some(2, named: "b"))
            await exporter.stop()
        }
        #expect(collector.received.map(\.spanNames) == [["a"], ["b"]])
        #expect(count(.sent) == sent + 1)
    }

    @Test func `R-907: a collector that ends each connection gets all spans`() async throws {
        var limits = HTTPLimits()
        limits.requestsMax = 1
        let collector = Collector()
        try await run(collector, limits: limits) { exporter in
            for number in 1...5 as ClosedRange<UInt64> {
                exporter.add(.some(number, named: "\(number)"))
                try await eventually { collector.received.count == Int(number) }
            }
            await exporter.stop()
        }
        #expect(collector.received.map(\.spanNames) == [["1"], ["2"], ["3"], ["4"], ["5"]])
    }

    @Test func `I-7, R-907: while a collector is silent the queue is bounded, and nobody waits`() async throws {
        let collector = Collector(isSilent: true)
        let (full, unreachable) = (count(.queueFull), count(.unreachable))
        try await run(
            collector,
            {
                $0.bounds.spansMax = 100
                $0.patience = .milliseconds(100)
            }
        ) { exporter in
            for number in 1...1_000 as ClosedRange<UInt64> { exporter.add(.some(number)) }
            #expect(count(.queueFull) == full + 900)
            await exporter.stop()
        }
        #expect(count(.unreachable) == unreachable + 100)
    }

    @Test func `R-907: spans for a collector that is not there are dropped in the end, and counted`() async throws {
        // A port where nobody listens any more.
        let loop = try EventLoop(name: "nobody")
        defer { loop.stop() }
        let server = try await HTTPServer.start(
            on: [loop], addresses: [.loopback(port: 0)], tls: nil, handler: Collector())
        let port = server.localAddresses[0].port
        await server.stop()
        let unreachable = count(.unreachable)
        let exporter = try makeExporter(port: port) { $0.bounds.attemptsMax = 3 }
        exporter.add(.some(1))
        try await eventually { count(.unreachable) == unreachable + 1 }
        exporter.add(.some(2))
        await exporter.stop()
        #expect(count(.unreachable) == unreachable + 2)
    }
}
