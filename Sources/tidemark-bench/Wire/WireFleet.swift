// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import TidemarkSockets

/// Devices of one account on one thread, which send requests as fast as the server answers.
///
/// The main thread uses it; its devices are confined to the loop.
final class WireFleet: @unchecked Sendable {
    private let loop: EventLoop
    private let signal = DispatchSemaphore(value: 0)

    // Confined to the loop, and read by the main thread while nothing is under way.

    private var devices: [WireDevice] = []
    private var readyCount = 0
    private var failure: String?
    private var run: Run?

    private static let patience = DispatchTimeInterval.seconds(120)

    /// One measurement.
    private struct Run {
        let makeRequest: (WireDevice) -> WireRequest
        let inFlight: Int
        /// When to stop, and the most requests.
        let end: Duration
        var requestsLeft: Int
        var outcome = Outcome()
        var start: Duration
    }

    struct Outcome: Sendable {
        var answerCount = 0
        /// The number of records in pages, or of zones in pages of a database's feed.
        var recordCount = 0
        /// The duration of each request, in seconds.
        var durations: [Double] = []
        var seconds = 0.0
    }

    /// Creates `zones`, and connects a device for each.
    convenience init(_ target: WireTarget, credential: String, zones: [String]) throws {
        try self.init(target, credential: credential, zones: zones.map { MeasuredZone(name: $0) })
    }

    /// The same, where zones may be those of others, or of everybody.
    init(
        _ target: WireTarget, credential: String, zones: [MeasuredZone], container: String = BenchDatabase.container
    ) throws {
        loop = try EventLoop(name: "fleet")
        let loop = loop
        loop.execute { [self] in
            devices = zones.map {
                WireDevice(zone: $0, credential: credential, container: container, loop: loop, fleet: self)
            }
            for device in devices { device.connect(to: target) }
        }
        try awaitSignal()
    }

    func stop() {
        loop.execute { [self] in
            for device in devices { device.close() }
            devices = []
        }
        loop.stop()
    }

    /// Every device keeps `inFlight` requests under way for this long, after a short warm-up.
    func run(
        seconds: Int, inFlight: Int, _ makeRequest: @escaping @Sendable (WireDevice) -> WireRequest
    ) throws -> Outcome {
        _ = try run(for: .milliseconds(500), requestsMax: .max, inFlight, makeRequest)
        return try run(for: .seconds(seconds), requestsMax: .max, inFlight, makeRequest)
    }

    /// All devices together send this many requests.
    func run(
        requestCount: Int, inFlight: Int, _ makeRequest: @escaping @Sendable (WireDevice) -> WireRequest
    ) throws -> Outcome {
        try run(for: .seconds(100), requestsMax: requestCount, inFlight, makeRequest)
    }

    private func run(
        for duration: Duration, requestsMax: Int, _ inFlight: Int,
        _ makeRequest: @escaping @Sendable (WireDevice) -> WireRequest
    ) throws -> Outcome {
        loop.execute { [self] in
            let now = loop.now
            run = Run(
                makeRequest: makeRequest, inFlight: inFlight, end: now + duration, requestsLeft: requestsMax, start: now
            )
            for device in devices { refill(device) }
        }
        try awaitSignal()
        guard let run else { throw BenchError("No outcome.") }
        return run.outcome
    }

    private func awaitSignal() throws {
        guard signal.wait(timeout: .now() + Self.patience) == .success else {
            throw BenchError("The server does not answer.")
        }
        if let failure { throw BenchError("A request failed: \(failure)") }
    }

    // MARK: On the loop

    func fail(_ reason: String) {
        guard failure == nil else { return }
        failure = reason
        signal.signal()
    }

    func becameReady() {
        readyCount += 1
        if readyCount == devices.count { signal.signal() }
    }

    func answered(_ device: WireDevice, after duration: Duration, recordCount: Int) {
        run?.outcome.answerCount += 1
        run?.outcome.recordCount += recordCount
        run?.outcome.durations.append(duration / .seconds(1))
        refill(device)
        endIfDone()
    }

    private func refill(_ device: WireDevice) {
        guard let end = run?.end, let inFlight = run?.inFlight, let makeRequest = run?.makeRequest else { return }
        guard loop.now < end else { return }
        while device.underWayCount < inFlight, let left = run?.requestsLeft, left > 0 {
            run?.requestsLeft -= 1
            device.send(makeRequest(device))
        }
    }

    private func endIfDone() {
        guard devices.allSatisfy({ $0.underWayCount == 0 }), let start = run?.start else { return }
        run?.outcome.seconds = (loop.now - start) / .seconds(1)
        signal.signal()
    }
}
