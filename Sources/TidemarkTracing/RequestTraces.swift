// SPDX-License-Identifier: Apache-2.0

internal import TidemarkSockets
internal import TidemarkTLS
package import TidemarkTelemetry

/// Traces a server's requests: chooses some of them, and makes the spans of each when it has its answer.
package final class RequestTraces: RequestTracing {
    /// An operator's choices.
    package struct Settings: Sendable {
        package var endpoint: TraceEndpoint
        /// The part of all requests that is traced, from 0 to 1.
        package var sample: Double
        /// The value of `Authorization` for the collector. Nil: none is sent.
        package var authorization: String?

        package init(endpoint: TraceEndpoint, sample: Double = 0.01, authorization: String? = nil) {
            self.endpoint = endpoint
            self.sample = sample
            self.authorization = authorization
        }
    }

    private let exporter: TraceExporter
    private let tracer: OTLPTracer

    /// Begins.
    ///
    /// - Parameters:
    ///   - server: tells the processes of one service apart.
    ///   - version: of the program.
    /// - Throws: `SocketError` if there is no thread left, `TLSError` if the system's authorities cannot be used.
    package convenience init(_ settings: Settings, server: String, version: String) throws {
        let tls = settings.endpoint.isSecured ? try TLSContext() : nil
        let exporting = TraceExporter.Settings(
            endpoint: settings.endpoint, authorization: settings.authorization)
        try self.init(exporting, tls, sample: settings.sample, server: server, version: version)
    }

    init(
        _ settings: TraceExporter.Settings, _ tls: TLSContext?, sample: Double, server: String, version: String
    ) throws(SocketError) {
        let encoder = TraceEncoder(
            resource: [
                "service.name": .text("tidemark"), "service.version": .text(version),
                "service.instance.id": .text(server),
            ], version: version)
        let exporter = try TraceExporter(settings, encoder: encoder, tls: tls)
        var random = SystemRandomNumberGenerator()
        self.exporter = exporter
        tracer = OTLPTracer(TraceSampler(sample: sample, secret: random.next())) { exporter.add($0) }
    }

    package func samples(_ request: RequestUUID) -> Bool { tracer.sampler.samples(TraceName(request)) }

    package func record(_ request: TracedRequest) { tracer.record(request) }

    /// From now on this process sends what libraries trace by swift-distributed-tracing, too. Only the first call counts.
    package func collectFromLibraries() { tracer.serveLibraries() }

    /// Sends the remaining spans, for at most two seconds.
    package func stop() async { await exporter.stop() }
}

extension TraceName {
    /// The name of a request's trace is that of the request.
    init(_ request: RequestUUID) { self.init(high: request.high, low: request.low) }
}

/// Chooses traces.
struct TraceSampler: Sendable {
    private let threshold: UInt64
    private let isAll: Bool
    private let secret: UInt64

    /// - Parameters:
    ///   - sample: the part that is chosen, from 0 to 1.
    ///   - secret: random bits. Clients number their requests, and must not choose which are traced.
    init(sample: Double, secret: UInt64) {
        isAll = sample >= 1
        threshold = isAll ? .max : UInt64(max(0, sample) * 0x1p64)
        self.secret = secret
    }

    func samples(_ trace: TraceName) -> Bool {
        isAll || RequestUUID.session(seed: trace.high ^ secret, number: trace.low) < threshold
    }
}
