// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing

@testable import TidemarkTelemetry

/// Which failures get a line in the log: every history of a few events, with less room than there are kinds.
@Suite struct FailureLimiterTests {
    private enum Event: CaseIterable, Hashable {
        case failureA, failureB, failureC, wait, waitLong, due

        var kind: String? {
            switch self {
            case .failureA: "a"
            case .failureB: "b"
            case .failureC: "c"
            case .wait, .waitLong, .due: nil
            }
        }
    }

    private static let interval = Duration.seconds(60)
    private static let kindsMax = 2

    private static func histories(_ length: Int) -> [[Event]] {
        guard length > 0 else { return [[]] }
        return histories(length - 1).flatMap { history in Event.allCases.map { history + [$0] } }
    }

    private struct Outcome {
        /// When each kind was written, with how many it stood for.
        var written: [(kind: String, at: Duration)] = []
        var failures: [(kind: String, at: Duration)] = []
        /// The failures that lines stand for.
        var toldCount = 0
        var counts: [(kind: String?, at: Duration)] = []
    }

    private static func run(_ history: [Event]) -> Outcome {
        var limiter = FailureLimiter<String>(interval: interval, kindsMax: kindsMax)
        var outcome = Outcome()
        var now = Duration.zero
        func take(_ all: [FailureLimiter<String>.Repeats]) {
            for repeats in all {
                #expect(repeats.count > 0 && repeats.time >= .zero)
                outcome.toldCount += repeats.count
                outcome.counts.append((repeats.kind, now))
            }
        }
        for event in history {
            switch event {
            case .wait: now += .seconds(25)
            case .waitLong: now += .seconds(60)
            case .due: take(limiter.due(at: now))
            case .failureA, .failureB, .failureC:
                let kind = event.kind ?? ""
                outcome.failures.append((kind, now))
                if case .write(let earlier) = limiter.note(kind, at: now) {
                    outcome.toldCount += 1 + earlier
                    outcome.written.append((kind, now))
                }
            }
        }
        take(limiter.end(at: now))
        return outcome
    }

    @Test func `R-760: each failure is in exactly one line, as itself or as one of a count`() {
        for history in Self.histories(6) {
            let outcome = Self.run(history)
            #expect(outcome.toldCount == outcome.failures.count, "\(history)")
        }
    }

    @Test func `R-760: the first of a kind is written at once, and again after an interval without one`() {
        // With room for all kinds that are in it.
        for history in Self.histories(6) where Set(history.compactMap(\.kind)).count <= Self.kindsMax {
            let outcome = Self.run(history)
            var last: [String: Duration] = [:]
            for (kind, at) in outcome.failures {
                let isNew = last[kind].map { at - $0 > Self.interval } ?? true
                if isNew { #expect(outcome.written.contains { $0 == (kind, at) }, "\(history)") }
                last[kind] = at
            }
        }
    }

    @Test func `R-760: a kind has at most one line and one count in an interval`() {
        for history in Self.histories(6) {
            let outcome = Self.run(history)
            // Kinds without room share one entry, whose lines may be of any of them.
            for kind in ["a", "b", "c"] where Set(history.compactMap(\.kind)).count <= Self.kindsMax {
                let times = outcome.written.filter { $0.kind == kind }.map(\.at)
                #expect(zip(times, times.dropFirst()).allSatisfy { $1 - $0 >= Self.interval }, "\(history)")
                let counts = outcome.counts.dropLast(Self.kindsMax + 1).filter { $0.kind == kind }.map(\.at)
                #expect(zip(counts, counts.dropFirst()).allSatisfy { $1 - $0 >= Self.interval }, "\(history)")
            }
        }
    }

    @Test func `R-760: however many kinds there are, few are kept, and the others are one`() {
        var limiter = FailureLimiter<Int>(interval: Self.interval, kindsMax: 4)
        let written = (0..<1_000).filter { limiter.note($0, at: .zero) != .count }
        #expect(written == [0, 1, 2, 3, 4])
        let counts = limiter.due(at: Self.interval)
        #expect(counts == [.init(kind: nil, count: 995, time: Self.interval)])
        // Quiet kinds have made room.
        #expect(limiter.note(1_000, at: Self.interval) == .write(earlier: 0))
    }
}

/// The lines that come of it.
@Suite struct FailureLogTests {
    private final class Lines: Sendable {
        private let all = SharedValue<[String]>([])
        let now = SharedValue<Duration>(.zero)

        var taken: [String] { all.replace([]) }

        func add(_ level: Log.Level, _ text: String, _ pairs: [String: String]) {
            let pairs = pairs.sorted { $0.key < $1.key }.map { " \($0)=\($1)" }.joined()
            all.change { $0.append("\(level) \(text)\(pairs)") }
        }
    }

    @Test func `R-760: the first failure has its request and its cause, and the others are counted`() async {
        let lines = Lines()
        let log = FailureLog(now: { lines.now.value }, write: lines.add)
        func fail(_ cause: String) { log.note(.warning, "the store failed", cause: cause, ["error": "e"]) }
        func failRequest(_ id: UInt64, times: Int = 1) {
            let trace = RequestTrace(RequestUUID(session: 3, number: id))
            RequestTrace.$current.withValue(trace) { for _ in 0..<times { fail("lost") } }
        }
        failRequest(17)
        let uuid = "00000000-0000-8003-8000-000000000011"
        #expect(lines.taken == ["warning the store failed cause=lost error=e request=\(uuid)"])
        lines.now.change { $0 = .seconds(30) }
        failRequest(18, times: 799)
        #expect(lines.taken == [])
        fail("refused")
        #expect(lines.taken == ["warning the store failed cause=refused error=e"])
        log.writeCounts()
        #expect(lines.taken == [])
        lines.now.change { $0 = .seconds(60) }
        log.writeCounts()
        #expect(lines.taken == ["warning the store failed cause=lost repeats=799 seconds=60"])
        failRequest(19)
        log.end()
        #expect(lines.taken == ["warning the store failed cause=lost repeats=1 seconds=0"])
    }
}

private final class SharedValue<Value: Sendable>: Sendable {
    private let state: Mutex<Value>

    init(_ value: Value) { state = Mutex(value) }

    var value: Value { state.withLock { $0 } }

    func change(_ body: (inout Value) -> Void) { state.withLock { body(&$0) } }

    func replace(_ value: Value) -> Value {
        state.withLock { old in
            defer { old = value }
            return old
        }
    }
}
