// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkTelemetry
internal import Tracing

/// A place in a trace.
private struct SpanPlace: Sendable {
    let trace: TraceName
    let id: UInt64
    let isSampled: Bool
}

private enum SpanPlaceKey: ServiceContextKey {
    typealias Value = SpanPlace
}

/// Gives its spans to an exporter, when they end.
///
/// A trace stays in one process: no request carries its name to or from another, so nothing is injected or extracted.
final class OTLPTracer: Tracer {
    typealias Span = OTLPSpan

    let sampler: TraceSampler
    private let take: @Sendable (FinishedSpan) -> Void
    private static let isServing = Mutex(false)

    init(_ sampler: TraceSampler, take: @escaping @Sendable (FinishedSpan) -> Void) {
        self.sampler = sampler
        self.take = take
    }

    /// Libraries of the process use it, too. Only the first of a process does that.
    func serveLibraries() {
        let isFirst = Self.isServing.withLock { isServing in
            defer { isServing = true }
            return !isServing
        }
        if isFirst { InstrumentationSystem.bootstrap(self) }
    }

    // MARK: Spans

    func startSpan<Instant: TracerInstant>(
        _ operationName: String, context: @autoclosure () -> ServiceContext, ofKind kind: SpanKind,
        at instant: @autoclosure () -> Instant, function: String, file fileID: String, line: UInt
    ) -> OTLPSpan {
        let context = context()
        let parent = context[SpanPlaceKey.self] ?? Self.place(of: RequestTrace.current)
        guard let parent else { return startTrace(operationName, context, kind, instant().nanosecondsSinceEpoch) }
        let place = SpanPlace(trace: parent.trace, id: Self.randomID(), isSampled: parent.isSampled)
        return start(operationName, place, parent.id, context, kind, instant().nanosecondsSinceEpoch)
    }

    private func startTrace(
        _ name: String, _ context: ServiceContext, _ kind: SpanKind, _ start: UInt64
    ) -> OTLPSpan {
        let trace = TraceName(high: Self.randomID(), low: Self.randomID())
        let place = SpanPlace(trace: trace, id: Self.randomID(), isSampled: sampler.samples(trace))
        return self.start(name, place, nil, context, kind, start)
    }

    private func start(
        _ name: String, _ place: SpanPlace, _ parent: UInt64?, _ context: ServiceContext, _ kind: SpanKind,
        _ start: UInt64
    ) -> OTLPSpan {
        var context = context
        context[SpanPlaceKey.self] = place
        let take = place.isSampled ? take : nil
        return OTLPSpan(name, place, parent: parent, context: context, kind: .init(kind), start: start, take: take)
    }

    /// Whatever runs for a traced request belongs to its span. Nil: nothing is known.
    private static func place(of request: RequestTrace?) -> SpanPlace? {
        guard let request else { return nil }
        return SpanPlace(
            trace: TraceName(request.uuid), id: request.uuid.low, isSampled: request.notes?.isTraced == true)
    }

    private static func randomID() -> UInt64 { .random(in: 1...UInt64.max) }

    // MARK: Requests

    /// Makes the spans of a request: one for all of it, and below it one for each wait.
    func record(_ request: TracedRequest) {
        let (end, last) = (DefaultTracerClock.now.nanosecondsSinceEpoch, request.end)
        func instant(_ time: Duration) -> DefaultTracerClock.Timestamp {
            let (seconds, attoseconds) = max(.zero, last - time).components
            let before = UInt64(clamping: seconds) &* 1_000_000_000 &+ UInt64(attoseconds / 1_000_000_000)
            return .init(nanosecondsSinceEpoch: end > before ? end - before : 0)
        }
        // The version of a UUID and its variant are never 0.
        let place = SpanPlace(trace: TraceName(request.uuid), id: request.uuid.low, isSampled: true)
        let whole = start(
            request.kind, place, nil, .topLevel, .server, instant(request.start).nanosecondsSinceEpoch)
        for step in RequestSteps.all(of: request) {
            let span = startSpan(
                step.name, context: whole.context, ofKind: .internal, at: instant(step.start), function: #function,
                file: #fileID, line: #line)
            if let sql = step.sql {
                span.attributes["db.system.name"] = "postgresql"
                span.attributes["db.query.text"] = sql
            }
            span.end(at: instant(step.end))
        }
        whole.attributes["tidemark.request"] = "\(request.uuid)"
        whole.attributes["tidemark.result"] = request.result
        whole.attributes["tidemark.answer_bytes"] = request.answerByteCount
        if let account = request.account { whole.attributes["tidemark.account"] = account }
        if request.isFault { whole.setStatus(SpanStatus(code: .error)) }
        whole.end(at: instant(last))
    }

    // MARK: Between processes

    func extract<Carrier, Extract: Extractor>(
        _ carrier: Carrier, into context: inout ServiceContext, using extractor: Extract
    ) where Extract.Carrier == Carrier {}

    func inject<Carrier, Inject: Injector>(
        _ context: ServiceContext, into carrier: inout Carrier, using injector: Inject
    ) where Inject.Carrier == Carrier {}

    @available(*, deprecated)
    func forceFlush() {}
}

/// A span of ``OTLPTracer``. Events and links are not kept.
final class OTLPSpan: Span {
    private struct State {
        var name: String
        var attributes = SpanAttributes()
        var status = FinishedSpan.Status.unset
        /// Nil once it has ended, or if nobody wants it.
        var take: (@Sendable (FinishedSpan) -> Void)?
    }

    /// Bounds of a span: attributes, and bytes of each text. Names are texts, too.
    private static let attributesMax = 32
    static let textBytesMax = 4_096

    let context: ServiceContext
    private let place: SpanPlace
    private let parent: UInt64?
    private let kind: FinishedSpan.Kind
    private let start: UInt64
    private let state: Mutex<State>

    fileprivate init(
        _ name: String, _ place: SpanPlace, parent: UInt64?, context: ServiceContext, kind: FinishedSpan.Kind,
        start: UInt64, take: (@Sendable (FinishedSpan) -> Void)?
    ) {
        self.place = place
        self.parent = parent
        self.context = context
        self.kind = kind
        self.start = start
        state = Mutex(State(name: name, take: take))
    }

    var operationName: String {
        get { state.withLock { $0.name } }
        set { state.withLock { $0.name = newValue } }
    }

    var attributes: SpanAttributes {
        get { state.withLock { $0.attributes } }
        set { state.withLock { $0.attributes = newValue } }
    }

    var isRecording: Bool { state.withLock { $0.take != nil } }

    func setStatus(_ status: SpanStatus) {
        state.withLock { $0.status = status.code == .ok ? .ok : .error }
    }

    func recordError<Instant: TracerInstant>(
        _ error: any Error, attributes: SpanAttributes, at instant: @autoclosure () -> Instant
    ) {
        state.withLock { $0.attributes["error.type"] = "\(type(of: error))" }
    }

    func addEvent(_ event: SpanEvent) {}

    func addLink(_ link: SpanLink) {}

    func end<Instant: TracerInstant>(at instant: @autoclosure () -> Instant) {
        let now = instant().nanosecondsSinceEpoch
        let (state, take) = state.withLock { state in
            defer { state.take = nil }
            return (state, state.take)
        }
        guard let take else { return }
        var values: [String: TraceValue] = [:]
        state.attributes.forEach { name, attribute in
            guard values.count < Self.attributesMax else { return }
            values[Self.short(name)] = TraceValue(attribute)
        }
        take(
            FinishedSpan(
                trace: place.trace, id: place.id, parent: parent, name: Self.short(state.name), kind: kind,
                start: start, end: max(start, now), attributes: values, status: state.status))
    }

    fileprivate static func short(_ text: String) -> String {
        text.utf8.count <= textBytesMax ? text : String(decoding: text.utf8.prefix(textBytesMax), as: UTF8.self) + " …"
    }
}

extension FinishedSpan.Kind {
    fileprivate init(_ kind: SpanKind) {
        self =
            switch kind {
            case .server: .server
            case .client: .client
            case .producer: .producer
            case .consumer: .consumer
            case .internal: .internal
            }
    }
}

extension TraceValue {
    /// Lists are text.
    fileprivate init(_ attribute: SpanAttribute) {
        switch attribute {
        case .int32(let value): self = .number(Int64(value))
        case .int64(let value): self = .number(value)
        case .double(let value): self = .decimal(value)
        case .bool(let value): self = .flag(value)
        case .string(let value): self = .text(OTLPSpan.short(value))
        case .stringConvertible(let value): self = .text(OTLPSpan.short("\(value)"))
        case .int32Array(let values): self = .text(OTLPSpan.short("\(values)"))
        case .int64Array(let values): self = .text(OTLPSpan.short("\(values)"))
        case .doubleArray(let values): self = .text(OTLPSpan.short("\(values)"))
        case .boolArray(let values): self = .text(OTLPSpan.short("\(values)"))
        case .stringArray(let values): self = .text(OTLPSpan.short("\(values)"))
        default: self = .text(OTLPSpan.short("\(attribute)"))
        }
    }
}
