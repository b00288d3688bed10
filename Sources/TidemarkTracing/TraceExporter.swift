// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkHTTP
internal import TidemarkScheduling
internal import TidemarkSockets
internal import TidemarkTLS
internal import TidemarkTelemetry
internal import TidemarkTransport

/// Sends spans to a collector in the background (OTLP over HTTP), on a separate thread, so nobody waits for it.
final class TraceExporter: Sendable {
    /// Where and how spans are sent.
    struct Settings: Sendable {
        var endpoint: TraceEndpoint
        /// The value of `Authorization`. Nil: none is sent.
        var authorization: String?
        var bounds = ExportBounds()
        var limits = HTTPClientLimits()
        /// How long a stop waits for the remaining spans.
        var patience = Duration.seconds(2)
        /// Where it is written what the collector does not take.
        var failures = FailureLog.shared
    }

    private let settings: Settings
    private let encoder: TraceEncoder
    private let loop: EventLoop
    private let client: HTTPClient
    private let machine: Mutex<ExportMachine>
    /// Waits for the end.
    private let stopping = Mutex<CheckedContinuation<Void, Never>?>(nil)

    /// - Parameter tls: for a collector with TLS.
    /// - Throws: `resourcesExhausted` if there are no threads left.
    init(_ settings: Settings, encoder: TraceEncoder, tls: TLSContext?) throws(SocketError) {
        self.settings = settings
        self.encoder = encoder
        loop = try EventLoop(name: "tidemark-traces")
        let target = HTTPClient.Target(
            host: settings.endpoint.host, port: settings.endpoint.port, tls: settings.endpoint.isSecured ? tls : nil)
        client = HTTPClient(on: loop, target: target, limits: settings.limits)
        machine = Mutex(ExportMachine(settings.bounds))
    }

    /// Takes a span. From any thread. It never waits: a span that finds no room is dropped and counted.
    func add(_ span: FinishedSpan) { perform(machine.withLock { $0.add(span) }) }

    /// Sends the remaining spans, for at most ``Settings/patience``, and ends the thread. Call it once.
    func stop() async {
        let timer = loop.schedule(after: settings.patience) { [self] in
            perform(machine.withLock { $0.giveUp() })
        }
        await withCheckedContinuation { continuation in
            stopping.withLock { $0 = continuation }
            perform(machine.withLock { $0.stop() })
        }
        timer.cancel()
        await loop.run { [self] in client.close() }.value
        loop.stop()
    }

    private func perform(_ actions: [ExportMachine.Action]) {
        for action in actions {
            switch action {
            case .schedule(let number, let delay):
                loop.schedule(after: delay) { [self] in perform(machine.withLock { $0.timerFired(number) }) }
            case .send(let spans): loop.run { [self] in await send(spans) }
            case .count(let result, let count): TracingMetrics.shared.spans.increment(result, by: count)
            case .finish:
                let waiter = stopping.withLock { waiter in
                    defer { waiter = nil }
                    return waiter
                }
                waiter?.resume()
            }
        }
    }

    private func send(_ spans: [FinishedSpan]) async {
        var fields = HeaderFields([("Content-Type", "application/json")])
        if let authorization = settings.authorization { fields.append(name: "Authorization", value: authorization) }
        let outcome: ExportOutcome
        do {
            let body = encoder.encode(spans)
            outcome = self.outcome(of: try await client.post(settings.endpoint.path, fields: fields, body: body))
        } catch {
            note("it was not reached", ["error": "\(error)"])
            outcome = .later(after: nil)
        }
        let randomBits = loop.randomBits()
        perform(machine.withLock { $0.ended(outcome, randomBits: randomBits) })
    }

    /// The statuses for a new attempt are OTLP's list.
    private func outcome(of response: WholeResponse) -> ExportOutcome {
        switch response.head.status.code {
        // Whatever the body says, spans that were taken are not sent again.
        case 200...299:
            let rejected = TraceEncoder.rejectedCount(in: response.body)
            if rejected > 0 {
                settings.failures.note(
                    .warning, "the collector did not take all spans", cause: "it rejected some",
                    ["rejected": "\(rejected)"], request: nil)
            }
            return .taken(rejectedCount: rejected)
        case 429, 502, 503, 504:
            note("it cannot take them now", ["status": "\(response.head.status.code)"])
            let seconds = response.head.fields.onlyValue("Retry-After").flatMap { Int($0) }
            return .later(after: seconds.map { .seconds(max(0, min($0, 86_400))) })
        default:
            note("it refused them", ["status": "\(response.head.status.code)"])
            return .refused
        }
    }

    private func note(_ cause: String, _ pairs: [String: String]) {
        settings.failures.note(.warning, "spans were not sent to the collector", cause: cause, pairs, request: nil)
    }
}
