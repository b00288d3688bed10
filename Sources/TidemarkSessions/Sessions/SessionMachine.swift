// SPDX-License-Identifier: Apache-2.0

internal import DequeModule
internal import TidemarkDomain
internal import TidemarkFairness
internal import TidemarkTelemetry
internal import TidemarkTranslation
internal import TidemarkWire

/// What each session of a hub may do. All of them have the same object, because there may be very many.
final class SessionBounds: Sendable {
    let requestsMax: Int
    let fetchesMax: Int
    let chunksMax: Int
    let queuedBytesMax: Int
    let requestBytesMax: Int
    let anonymousRequestBytesMax: Int

    init(_ settings: SessionSettings) {
        requestsMax = settings.limits.requestsInFlightMax
        fetchesMax = settings.fetchesRunningMax
        chunksMax = settings.assetChunksMax
        queuedBytesMax = settings.queuedBytesMax
        requestBytesMax = settings.requestBytesUnderWayMax
        anonymousRequestBytesMax = settings.anonymousRequestBytesUnderWayMax
    }
}

/// What a session does next, decided from what happened: no clock, no peer, no task.
struct SessionMachine {
    enum Phase: Equatable {
        case awaitingHello
        case authenticating
        case open
        /// The server stops: what runs is finished, nothing new is begun.
        case ending
        case closed
    }

    enum Action {
        /// Check who this is, then tell ``SessionMachine/opened()`` or ``SessionMachine/ended(_:)``.
        case greet(UInt64, WireHello)
        /// Answer the request, then tell ``SessionMachine/finished(_:)``.
        case start(ClientMessage)
        case refuse(UInt64, Refusal)
        case pauseReading
        case resumeReading
        /// The peer does not take its answers: begin to wait, or stop waiting.
        case peerIsSlow(Bool)
        case close(SessionClose)
    }

    private(set) var phase = Phase.awaitingHello
    /// Why it is closed once a session that is ending has answered all.
    private var stopReason = SessionClose.goingAway
    /// Whether it was opened without a credential.
    private(set) var isAnonymous = false
    /// Whether the peer reads more slowly than it is sent to. No large answer is then made for it.
    private(set) var isPeerFull = false
    private var isReadingPaused = false
    /// Whether the process has little memory left for this session's requests. Then a request is read only when those
    /// before it have been answered.
    private var isMemoryTight = false
    private let bounds: SessionBounds

    /// Requests without an answer: bytes of memory by id.
    private var underWay: [UInt64: Int] = [:]
    private(set) var underWayBytes = 0
    private var fetchesRunning: Set<UInt64> = []
    /// Requests that carry or bring a part of an asset.
    private var chunksUnderWay: Set<UInt64> = []
    private var waiting: Deque<ClientMessage> = []
    /// Requests refused because too many were under way, since there was room.
    private var refusedCount = 0
    /// Messages that began nothing, since the last answer or push.
    private var idleMessageCount = 0
    /// Requests refused for lack of memory, since one was accepted.
    private var memoryRefusedCount = 0
    /// Requests refused because their account sends too many in a second, since one was not.
    private var fastRefusedCount = 0

    init(_ bounds: SessionBounds) { self.bounds = bounds }

    var requestCount: Int { underWay.count }

    func isUnderWay(_ id: UInt64) -> Bool { underWay[id] != nil }

    // MARK: Events

    /// A message came; nil: its bytes are no envelope.
    ///
    /// - Parameters:
    ///   - room: whether there is memory for it.
    ///   - rateRefusal: what it is answered if its account sends too many requests in a second.
    mutating func received(
        _ message: ClientMessage?, room: FairAmounts.Answer = .ample, rateRefusal: Refusal? = nil
    ) -> [Action] {
        guard phase != .closed else { return [] }
        guard let message else { return end(.notAnEnvelope) }
        switch phase {
        case .awaitingHello:
            guard case .hello(let hello)? = message.request else { return misuse(message.id, "Hello comes first.") }
            phase = .authenticating
            return [.greet(message.id, hello)]
        case .authenticating:
            return misuse(message.id, "Hello has not been answered yet.")
        case .open:
            return receivedWhileOpen(message, room, rateRefusal)
        case .ending:
            // Who is sent to another server sends it again there, and does not wait as after an answer.
            guard message.id != 0, stopReason != .restarting else { return [] }
            return [.refuse(message.id, Refusal(.storeUnavailable, "The server stops: connect again."))]
        case .closed:
            return []
        }
    }

    /// `Hello` was accepted.
    mutating func opened(isAnonymous: Bool = false) {
        guard phase == .authenticating else { return }
        phase = .open
        self.isAnonymous = isAnonymous
    }

    /// The request has its answer.
    mutating func finished(_ id: UInt64) -> [Action] {
        idleMessageCount = 0
        forget(id)
        fetchesRunning.remove(id)
        if phase == .ending, underWay.isEmpty { return end(stopReason) }
        return startWaiting() + adjustReading()
    }

    /// The device is told of changes, and may say that it heard it.
    mutating func pushed() { idleMessageCount = 0 }

    /// So many bytes are queued to the peer now.
    mutating func queued(_ byteCount: Int) -> [Action] {
        guard phase != .closed else { return [] }
        let isFull = byteCount > bounds.queuedBytesMax
        guard isFull != isPeerFull else { return [] }
        isPeerFull = isFull
        if !isFull { refusedCount = 0 }
        return [.peerIsSlow(isFull)] + startWaiting() + adjustReading()
    }

    /// The time for `Hello` is over.
    mutating func helloTimedOut() -> [Action] {
        phase == .awaitingHello || phase == .authenticating ? end(.tooSlow) : []
    }

    /// The peer has been full for too long.
    mutating func peerTimedOut() -> [Action] {
        isPeerFull ? end(.tooSlow) : []
    }

    /// The server stops.
    mutating func stop(_ why: SessionClose = .goingAway) -> [Action] {
        stopReason = why
        switch phase {
        case .awaitingHello, .authenticating: return end(why)
        case .open:
            phase = .ending
            let refused =
                why == .restarting ? [] : waiting.map { Action.refuse($0.id, Refusal(.storeUnavailable)) }
            for message in waiting { forget(message.id) }
            waiting.removeAll()
            return refused + (underWay.isEmpty ? end(why) : [])
        case .ending, .closed: return []
        }
    }

    /// Ends the session, unless it has ended.
    mutating func end(_ why: SessionClose) -> [Action] {
        guard phase != .closed else { return [] }
        closed()
        return [.close(why)]
    }

    /// The connection is gone.
    mutating func closed() {
        phase = .closed
        for message in waiting { forget(message.id) }
        waiting.removeAll()
    }

    // MARK: While open

    private mutating func receivedWhileOpen(
        _ message: ClientMessage, _ room: FairAmounts.Answer, _ rateRefusal: Refusal?
    ) -> [Action] {
        // Only an acknowledgement has no id.
        guard message.id != 0 else { return countIdle() }
        guard let request = message.request else {
            let refusal = message.refusal ?? Refusal(.requestInvalid, "This server does not know that request.")
            return [.refuse(message.id, refusal)] + countIdle()
        }
        if case .hello = request { return misuse(message.id, "Hello comes once.") }
        guard underWay[message.id] == nil else { return misuse(message.id, "A request with this id is under way.") }
        if let rateRefusal { return tooFast(message.id, rateRefusal) }
        fastRefusedCount = 0
        guard underWay.count < bounds.requestsMax else { return tooMany(message.id) }
        if room != .ample { isMemoryTight = !underWay.isEmpty || room == .tight }
        guard room != .none else { return noMemory(message.id) + adjustReading() }
        memoryRefusedCount = 0
        underWay[message.id] = message.memory
        underWayBytes += message.memory
        if request.isAssetChunk { chunksUnderWay.insert(message.id) }
        waiting.append(message)
        return startWaiting() + adjustReading()
    }

    /// A message that begins nothing costs little, but very many of them keep a loop busy.
    private mutating func countIdle() -> [Action] {
        idleMessageCount += 1
        return idleMessageCount > 4 * bounds.requestsMax ? end(.tooMany) : []
    }

    private mutating func forget(_ id: UInt64) {
        underWayBytes -= underWay.removeValue(forKey: id) ?? 0
        chunksUnderWay.remove(id)
        if underWay.isEmpty { isMemoryTight = false }
    }

    private mutating func misuse(_ id: UInt64, _ detail: String) -> [Action] {
        let reason: FailureReason = phase == .open ? .requestInvalid : .notAuthenticated
        return [.refuse(id, Refusal(reason, detail))] + end(.misuse)
    }

    /// A client that knows the limit never gets here; one that goes on after being told is cut off.
    private mutating func tooMany(_ id: UInt64) -> [Action] {
        refusedCount += 1
        guard refusedCount <= bounds.requestsMax else { return end(.tooMany) }
        return [.refuse(id, Refusal(.tooManyRequests))]
    }

    /// A client that waits as long as it is told does not get here often. One that goes on all the same is cut off: also a
    /// refusal costs something.
    private mutating func tooFast(_ id: UInt64, _ refusal: Refusal) -> [Action] {
        fastRefusedCount += 1
        guard fastRefusedCount <= 4 * bounds.requestsMax else { return end(.tooMany) }
        return [.refuse(id, refusal)]
    }

    private mutating func noMemory(_ id: UInt64) -> [Action] {
        memoryRefusedCount += 1
        guard memoryRefusedCount <= bounds.requestsMax else { return end(.tooMany) }
        return [
            .refuse(id, Refusal(.tooManyRequests, "Too many large requests are under way. Try again in a moment."))
        ]
    }

    private mutating func startWaiting() -> [Action] {
        guard phase == .open, !isPeerFull, !waiting.isEmpty else { return [] }
        var actions: [Action] = []
        var later: Deque<ClientMessage> = []
        while let message = waiting.popFirst() {
            if message.request?.isLarge == true {
                guard fetchesRunning.count < bounds.fetchesMax else {
                    later.append(message)
                    continue
                }
                fetchesRunning.insert(message.id)
            }
            actions.append(.start(message))
        }
        waiting = later
        return actions
    }

    private var requestBytesMax: Int { isAnonymous ? bounds.anonymousRequestBytesMax : bounds.requestBytesMax }

    private var isAtLimit: Bool {
        underWay.count >= bounds.requestsMax || underWayBytes >= requestBytesMax
            || chunksUnderWay.count >= bounds.chunksMax || isMemoryTight
    }

    private var isAtHalf: Bool {
        underWay.count <= bounds.requestsMax / 2 && underWayBytes <= requestBytesMax / 2
            && chunksUnderWay.count <= bounds.chunksMax / 2 && !isMemoryTight
    }

    private mutating func adjustReading() -> [Action] {
        guard phase == .open else { return [] }
        if !isReadingPaused, isPeerFull || isAtLimit {
            isReadingPaused = true
            return [.pauseReading]
        }
        // Half, so that a client at the limit does not make it change with every answer.
        if isReadingPaused, !isPeerFull, isAtHalf {
            isReadingPaused = false
            refusedCount = 0
            return [.resumeReading]
        }
        return []
    }
}

extension WireClientEnvelope.OneOfRequest {
    /// Whether it waits for a turn of its owner.
    var isQuery: Bool { if case .queryRecords = self { true } else { false } }

    /// Where it waits for its owner's turn. Nil: it has turns of its own, as a query, in the queue of writes
    /// or for each share that it accepts or leaves. `Hello` has a gate of its own.
    var gate: RequestGates.Kind? {
        switch self {
        case .fetchZoneChanges, .fetchRecords, .fetchZones, .fetchSubscriptions, .fetchKeys, .fetchShareMetadata,
            .fetchShareParticipants, .verifyZone, .joinPresence:
            .fetch
        case .fetchDatabaseChanges: .wholeDatabase
        case .prepareAssetUpload, .uploadAssetChunk, .fetchAssetChunk: .asset
        case .modifyZones(let zones): zones.database == .shared ? nil : .change
        case .modifySubscriptions, .saveAccountKey, .saveZoneKey, .grantKeys: .change
        case .hello, .modifyRecords, .queryRecords, .acceptShares, .requestShareAccess: nil
        // They read and write nothing. `PresenceHall` bounds them.
        case .publishPresence, .leavePresence: nil
        }
    }

    /// Whether the answer may be large, however small the request is. Parts of assets are counted apart.
    var isLarge: Bool { gate == .fetch || gate == .wholeDatabase || isQuery || isAcceptance }

    /// It is answered the CKShare records of the shares that it accepts.
    private var isAcceptance: Bool { if case .acceptShares = self { true } else { false } }

    /// The room that it takes at its gate.
    var answerRoom: Int {
        switch self {
        case .fetchRecords(let fetch): min(RequestGates.pageRoom, max(1, fetch.zones.reduce(0) { $0 + $1.names.count }))
        case .fetchZones(let fetch): 1...8 ~= fetch.zones.count ? 1 : RequestGates.pageRoom
        case .verifyZone(let verify): verify.lists ? RequestGates.pageRoom : 1
        case .fetchDatabaseChanges, .fetchShareParticipants, .acceptShares, .joinPresence: 1
        default: isLarge ? RequestGates.pageRoom : 1
        }
    }

    /// Whether it counts in the requests that an account may send in a second. A file has very many parts, which have
    /// turns and bounds of their own. So has presence, which must never cost an app its connection.
    var countsInRate: Bool { !isAssetChunk && !isPresence }

    private var isPresence: Bool {
        switch self {
        case .joinPresence, .publishPresence, .leavePresence: true
        default: false
        }
    }

    fileprivate var isAssetChunk: Bool {
        switch self {
        case .uploadAssetChunk, .fetchAssetChunk: true
        default: false
        }
    }
}
