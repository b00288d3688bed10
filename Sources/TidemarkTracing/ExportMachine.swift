// SPDX-License-Identifier: Apache-2.0

internal import DequeModule

/// How much waits, and for how long.
struct ExportBounds: Sendable {
    /// Spans that wait, with those that are being sent. Further ones are dropped.
    var spansMax = 8_192
    /// About their bytes.
    var bytesMax = 8_388_608
    /// Spans of one request, and about their bytes. One request is under way at a time.
    var batchSpansMax = 512
    var batchBytesMax = 1_048_576
    /// How long the first span of a batch waits for others.
    var batchDelay = Duration.seconds(1)
    /// How often a batch is sent before it is dropped.
    var attemptsMax = 5
    /// The pause after the first failure. It doubles with each further one, up to the next value.
    var pauseMin = Duration.seconds(1)
    /// A pause that a collector asks for is not longer either.
    var pauseMax = Duration.seconds(60)
}

/// The outcome of a request to a collector.
enum ExportOutcome: Sendable, Equatable {
    /// It has taken the spans, except this many.
    case taken(rejectedCount: Int)
    /// It does not want these spans. Sending them again would change nothing.
    case refused
    /// It was not reached, or cannot take them now. It may say when to come again.
    case later(after: Duration?)
}

/// Decides which spans are sent when, and which are dropped: a pure value. Its driver is ``TraceExporter``.
struct ExportMachine {
    enum Action: Equatable {
        /// Call ``timerFired(_:)`` with that number after the time. Timers of earlier numbers do not have to be
        /// cancelled.
        case schedule(Int, after: Duration)
        /// Send these, and call ``ended(_:randomBits:)``.
        case send([FinishedSpan])
        case count(TracingMetrics.SpanResult, Int)
        /// Nothing is left, and nothing more will come.
        case finish
    }

    private enum Phase {
        case idle
        /// A batch is being collected.
        case collecting
        case sending([FinishedSpan], attempt: Int)
        /// After a failure. Empty: the batch was dropped, and the next one is tried.
        case pausing([FinishedSpan], attempt: Int)
        case finished
    }

    private let bounds: ExportBounds
    private var phase = Phase.idle
    private var waiting: Deque<FinishedSpan> = []
    /// How many spans wait or are being sent.
    private var spanCount = 0
    private var byteCount = 0
    private var timer = 0
    /// Failures since the last success.
    private var failureCount = 0
    private var isStopping = false

    init(_ bounds: ExportBounds = ExportBounds()) { self.bounds = bounds }

    /// A span has ended.
    mutating func add(_ span: FinishedSpan) -> [Action] {
        let bytes = span.byteCount
        guard !isStopping, spanCount < bounds.spansMax, byteCount + bytes <= bounds.bytesMax else {
            return [.count(.queueFull, 1)]
        }
        waiting.append(span)
        spanCount += 1
        byteCount += bytes
        switch phase {
        case .idle:
            phase = .collecting
            return [schedule(after: bounds.batchDelay)]
        case .collecting where waiting.count >= bounds.batchSpansMax: return sendNext()
        case .collecting, .sending, .pausing, .finished: return []
        }
    }

    mutating func timerFired(_ number: Int) -> [Action] {
        guard number == timer else { return [] }
        switch phase {
        case .collecting: return sendNext()
        case .pausing(let batch, let attempt): return sendAgain(batch, attempt: attempt + 1)
        case .idle, .sending, .finished: return []
        }
    }

    /// The request under way has ended.
    ///
    /// - Parameter randomBits: spread the pauses of several servers.
    mutating func ended(_ outcome: ExportOutcome, randomBits: UInt64) -> [Action] {
        guard case .sending(let batch, let attempt) = phase else { return [] }
        switch outcome {
        case .taken(let rejected):
            failureCount = 0
            let rejected = min(max(0, rejected), batch.count)
            let counts: [(TracingMetrics.SpanResult, Int)] = [(.sent, batch.count - rejected), (.refused, rejected)]
            return leave(batch, counts) + sendNext()
        case .refused:
            failureCount = 0
            return leave(batch, [(.refused, batch.count)]) + sendNext()
        case .later(let delay):
            failureCount += 1
            // A stop does not wait for a collector that is not there.
            guard attempt < bounds.attemptsMax, !isStopping else {
                return leave(batch, [(.unreachable, batch.count)])
                    + (isStopping ? giveUp() : pause([], 0, delay, randomBits))
            }
            return pause(batch, attempt, delay, randomBits)
        }
    }

    /// No more spans come. Waiting ones are sent at once, and not again if that fails.
    mutating func stop() -> [Action] {
        guard !isStopping else { return [] }
        isStopping = true
        switch phase {
        case .idle, .collecting: return sendNext()
        case .pausing(let batch, let attempt): return sendAgain(batch, attempt: attempt + 1)
        case .sending, .finished: return []
        }
    }

    /// The remaining spans are dropped.
    mutating func giveUp() -> [Action] {
        let left = spanCount
        (waiting, spanCount, byteCount, phase) = ([], 0, 0, .finished)
        return (left > 0 ? [.count(.unreachable, left)] : []) + [.finish]
    }

    // MARK: -

    private mutating func schedule(after delay: Duration) -> Action {
        timer += 1
        return .schedule(timer, after: delay)
    }

    private mutating func sendAgain(_ batch: [FinishedSpan], attempt: Int) -> [Action] {
        guard !batch.isEmpty else { return sendNext() }
        timer += 1
        phase = .sending(batch, attempt: attempt)
        return [.send(batch)]
    }

    private mutating func sendNext() -> [Action] {
        timer += 1
        var batch: [FinishedSpan] = []
        var bytes = 0
        while let next = waiting.first, batch.count < bounds.batchSpansMax {
            bytes += next.byteCount
            guard batch.isEmpty || bytes <= bounds.batchBytesMax else { break }
            batch.append(waiting.removeFirst())
        }
        guard !batch.isEmpty else {
            phase = isStopping ? .finished : .idle
            return isStopping ? [.finish] : []
        }
        phase = .sending(batch, attempt: 1)
        return [.send(batch)]
    }

    private mutating func pause(
        _ batch: [FinishedSpan], _ attempt: Int, _ wanted: Duration?, _ randomBits: UInt64
    ) -> [Action] {
        let doubled = min(bounds.pauseMax, bounds.pauseMin * (1 << min(failureCount - 1, 16)))
        let spread = doubled * (500 + Int(randomBits % 501)) / 1_000
        phase = .pausing(batch, attempt: attempt)
        return [schedule(after: min(bounds.pauseMax, max(spread, wanted ?? .zero)))]
    }

    private mutating func leave(
        _ batch: [FinishedSpan], _ counts: [(TracingMetrics.SpanResult, Int)]
    ) -> [Action] {
        spanCount -= batch.count
        byteCount -= batch.reduce(0) { $0 + $1.byteCount }
        return counts.filter { $0.1 > 0 }.map { .count($0.0, $0.1) }
    }
}
