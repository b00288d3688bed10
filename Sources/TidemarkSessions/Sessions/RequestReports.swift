// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkTelemetry
internal import TidemarkTranslation
internal import TidemarkWire

/// A request that has its answer.
struct AnsweredRequest {
    let message: ClientMessage
    let uuid: RequestUUID
    let member: SessionMember
    let result: RequestResult
    /// When its turn came, if it waited for one and that was noted.
    let turn: Duration?
    let notes: RequestNotes?
    let answer: [UInt8]
    /// When there was an answer, on the clock of ``ClientMessage/receivedAt``.
    let end: Duration

    var time: Duration { end - message.receivedAt }
    var kind: String { message.request?.kind.name ?? "unknown" }
    /// The account's number. Its name is for people, and is not in the log.
    var account: String { member.identity.map { "\($0.account.rawValue)" } ?? "none" }
}

/// What the log says of requests: each in a line at debug, and slow ones in a warning.
struct RequestReports: Sendable {
    private static let log = Log("requests")

    /// The most characters of a statement in the log. The longest that clients can cause have some hundred thousand.
    private static let statementMax = 4_096

    /// Nil: no request is slow.
    private let slowTime: Duration?
    /// Nil: no request is traced.
    private let traces: (any RequestTracing)?
    /// Whether somebody wants to know of each request.
    let wantsTimes: Bool

    /// - Parameters:
    ///   - slowTime: as ``SessionSettings/slowRequestTime``.
    ///   - traces: as ``SessionSettings/traces``.
    init(slowTime: Duration?, traces: (any RequestTracing)? = nil) {
        self.slowTime = slowTime
        self.traces = traces
        wantsTimes = slowTime != nil || traces != nil || Self.log.writes(.debug)
    }

    /// What the work for a request carries along. It has notes if the request is traced, or if it is a query, whose time the
    /// store can tell with what it did.
    func trace(_ uuid: RequestUUID, isQuery: Bool = false) -> RequestTrace {
        if let traces, traces.samples(uuid) { return RequestTrace(uuid, notes: RequestNotes(isTraced: true)) }
        return RequestTrace(uuid, notes: slowTime != nil && isQuery ? RequestNotes() : nil)
    }

    func answered(_ request: AnsweredRequest) {
        Self.log.debug("request", Self.line(request))
        if let slowTime, request.time >= slowTime { warn(request) }
        guard let traces, let notes = request.notes, notes.isTraced else { return }
        traces.record(
            TracedRequest(
                request.uuid, kind: request.kind, result: request.result.name, isFault: request.result.isFault,
                account: request.member.identity.map { $0.account.rawValue }, answerByteCount: request.answer.count,
                start: request.message.receivedAt, turn: request.turn ?? notes.turn, end: request.end, notes: notes))
    }

    /// A `Hello` has its answer.
    func answered(_ greeting: GreetingUnderWay, _ result: RequestResult, at end: Duration) {
        guard let traces, let notes = greeting.trace.notes, notes.isTraced else { return }
        traces.record(
            TracedRequest(
                greeting.trace.uuid, kind: WireRequestKind.hello.name, result: result.name, isFault: result.isFault,
                account: nil, answerByteCount: 0, start: greeting.began, turn: nil, end: end, notes: notes))
    }

    /// A `Hello` was accepted. Other lines name the session by its number.
    func opened(_ uuid: RequestUUID, session number: UInt64, _ member: SessionMember) {
        Self.log.debug(
            "a session began",
            [
                "request": "\(uuid)", "session": "\(number)",
                "account": member.identity.map { "\($0.account.rawValue)" } ?? "none",
                "container": member.container.identifier,
            ])
    }

    /// It was refused before it began.
    func refused(_ uuid: RequestUUID, _ refusal: Refusal) {
        Self.log.debug("a request was refused at once", ["request": "\(uuid)", "why": "\(refusal.code)"])
    }

    /// Its group is for the app's developer.
    private static func line(_ request: AnsweredRequest) -> KeyValuePairs<String, String> {
        [
            "request": "\(request.uuid)", "kind": request.kind, "result": result(of: request.answer),
            "milliseconds": milliseconds(request.time), "bytes": "\(request.answer.count)",
            "account": request.account, "group": short(request.message.operationGroup?.id),
            "group_name": short(request.message.operationGroup?.name),
        ]
    }

    /// A failure of the whole request, or `ok`. Failures of items are in the answer.
    private static func result(of answer: [UInt8]) -> String {
        ServerMessage.failureCode(in: answer).map { "\($0)" } ?? "ok"
    }

    /// The beginning of a text that a client chose. A character may have any number of scalars.
    private static func short(_ text: String?) -> String { String((text ?? "").unicodeScalars.prefix(100)) }

    // MARK: Slow requests

    /// One line for each kind of request in a minute, and a count of the others (``FailureLimiter``). So nobody can fill the
    /// log.
    private func warn(_ request: AnsweredRequest) {
        FailureLog.shared.note(
            .warning, "a request was slow", cause: request.kind, Self.parts(of: request),
            request: RequestTrace(request.uuid))
    }

    private static func parts(of request: AnsweredRequest) -> [String: String] {
        var pairs = ["account": request.account, "milliseconds": milliseconds(request.time)]
        let turn = request.turn ?? request.notes?.turn
        if let turn { pairs["turn_milliseconds"] = milliseconds(turn - request.message.receivedAt) }
        if let store = request.notes?.storeTime {
            pairs["store_milliseconds"] = milliseconds(store)
            if let turn { pairs["answer_milliseconds"] = milliseconds(max(.zero, request.end - turn - store)) }
        }
        if let statement = request.notes?.slowest {
            pairs["sql"] = oneLine(statement.sql)
            pairs["sql_id"] = StatementHash.text(of: statement.sql)
        }
        return pairs
    }

    /// Without the indentation of the source.
    private static func oneLine(_ sql: String) -> String {
        let text = sql.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        return text.unicodeScalars.count <= statementMax
            ? text : String(text.unicodeScalars.prefix(statementMax)) + " …"
    }

    /// With three places.
    static func milliseconds(_ time: Duration) -> String {
        let (seconds, attoseconds) = time.components
        let microseconds = max(0, seconds * 1_000_000 + attoseconds / 1_000_000_000_000)
        let places = "\(1_000 + microseconds % 1_000)".dropFirst()
        return "\(microseconds / 1_000).\(places)"
    }
}
