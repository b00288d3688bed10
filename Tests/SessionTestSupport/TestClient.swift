// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkBytes
internal import TidemarkDomain
internal import TidemarkFields
package import TidemarkSessions
package import TidemarkTestSupport
package import TidemarkWire

/// The other end of a session: what it was sent, and whether it takes it.
package final class TestClient: SessionPeer {
    private struct State {
        var session: Session?
        var inbox: [WireServerEnvelope] = []
        var queuedByteCount = 0
        var takesAnswers = true
        var isReadingPaused = false
        var sharedCount = 0
        var closed: (code: UInt16, reason: String)?
        var lastID: UInt64 = 0
        var counter: UInt64 = 0
        var onMessage: (@Sendable (WireServerEnvelope) -> Void)?
        var mayBeNobody = true
    }

    private let state = Mutex(State())
    private let scheduler: ManualScheduler
    package let network: String

    /// - Parameter network: as ``SessionPeer/network``.
    package init(_ hub: SessionHub, _ scheduler: ManualScheduler, network: String = "") {
        self.scheduler = scheduler
        self.network = network
        let session = hub.makeSession(peer: self)
        state.withLock { $0.session = session }
    }

    // MARK: SessionPeer

    package func send(_ message: [UInt8]) {
        let envelope = (try? WireServerEnvelope(reading: message)) ?? WireServerEnvelope()
        let onMessage = state.withLock { state -> (@Sendable (WireServerEnvelope) -> Void)? in
            guard state.closed == nil else { return nil }
            state.inbox.append(envelope)
            if !state.takesAnswers { state.queuedByteCount += message.count }
            return state.onMessage
        }
        onMessage?(envelope)
    }

    package func send(_ message: SharedMessage) {
        state.withLock { $0.sharedCount += 1 }
        send(message.bytes)
    }

    package var queuedByteCount: Int { state.withLock { $0.queuedByteCount } }
    package func pauseReading() { state.withLock { $0.isReadingPaused = true } }
    package func resumeReading() { state.withLock { $0.isReadingPaused = false } }

    package func close(code: UInt16, reason: String) {
        state.withLock { $0.closed = $0.closed ?? (code, reason) }
        session?.closed()
    }

    // MARK: For tests

    private var session: Session? { state.withLock { $0.session } }
    package var closeCode: UInt16? { state.withLock { $0.closed?.code } }
    package var isReadingPaused: Bool { state.withLock { $0.isReadingPaused } }
    package var inbox: [WireServerEnvelope] { state.withLock { $0.inbox } }
    package var pushes: [WirePush] { inbox.filter { $0.id == 0 }.map(\.push) }
    package var failures: [WireFailure] {
        inbox.compactMap { if case .failure(let failure)? = $0.answer { failure } else { nil } }
    }

    /// From now on `hook` is called with each message that comes, before the session does anything else.
    package func onMessage(_ hook: @escaping @Sendable (WireServerEnvelope) -> Void) {
        state.withLock { $0.onMessage = hook }
    }

    /// From now on the client is a web page that the operator does not know.
    package func becomeForeignPage() { state.withLock { $0.mayBeNobody = false } }

    package var mayBeNobody: Bool { state.withLock { $0.mayBeNobody } }

    package func forgetInbox() { state.withLock { $0.inbox = [] } }

    /// False: what is sent stays queued, as with a client that does not read.
    package func takesAnswers(_ takes: Bool) {
        state.withLock { state in
            state.takesAnswers = takes
            if takes { state.queuedByteCount = 0 }
        }
        if takes { session?.drained() }
    }

    package func disconnect() { session?.closed() }

    /// Bytes as they come.
    package func post(_ bytes: [UInt8]) { session?.received(bytes) }

    /// - Returns: the request's id.
    @discardableResult
    package func post(_ request: WireClientEnvelope.OneOfRequest?, id: UInt64? = nil) -> UInt64 {
        let id =
            id
            ?? state.withLock { state in
                state.lastID += 1
                return state.lastID
            }
        post(Self.envelope(request, id: id))
        return id
    }

    package static func envelope(_ request: WireClientEnvelope.OneOfRequest?, id: UInt64) -> [UInt8] {
        var envelope = WireClientEnvelope()
        envelope.id = id
        envelope.request = request
        return envelope.encoded
    }

    /// Sends a request, lets everything happen that does not need time to pass, and returns the answer.
    package func ask(_ request: WireClientEnvelope.OneOfRequest) throws -> WireServerEnvelope.OneOfAnswer? {
        let id = post(request)
        scheduler.runUntilIdle()
        return answer(to: id)
    }

    package func answer(to id: UInt64) -> WireServerEnvelope.OneOfAnswer? {
        inbox.first { $0.id == id }?.answer
    }

    package func stamp() -> WireRequestStamp {
        WireRequestStamp(
            counter: state.withLock { state in
                state.counter += 1
                return state.counter
            })
    }
}

// MARK: Requests

extension TestClient {
    package static func zone(_ name: String) -> WireZoneID {
        var zone = WireZoneID()
        zone.name = name
        return zone
    }

    /// For the zones of the private database.
    package static var zonesRequest: WireClientEnvelope.OneOfRequest {
        var request = WireFetchZones()
        request.database = .private
        return .fetchZones(request)
    }

    package func makeZone(_ name: String) throws {
        var request = WireModifyZones()
        request.database = .private
        request.stamp = stamp()
        request.saves = [Self.zone(name)]
        let answer = try ask(.modifyZones(request))
        guard case .modifyZones(let zones)? = answer, zones.saves.first?.failure.code == .unspecified else {
            throw SessionWorld.Unexpected(answer)
        }
    }

    package func deleteZone(_ name: String) throws {
        var request = WireModifyZones()
        request.database = .private
        request.stamp = stamp()
        request.deletes = [Self.zone(name)]
        let answer = try ask(.modifyZones(request))
        guard case .modifyZones(let zones)? = answer, zones.deletes.first?.failure.code == .unspecified else {
            throw SessionWorld.Unexpected(answer)
        }
    }

    package static func note(_ name: String, text: String = "text") throws -> WireRecordSave {
        var save = WireRecordSave()
        save.name = name
        save.type = "Note"
        save.fields = [UInt8](try FieldMap([Field("text", .string(text))]).bytes)
        return save
    }

    package func saving(_ name: String, in zone: String, text: String = "text") throws -> WireModifyRecords {
        WireModifyRecords(saving: [try Self.note(name, text: text)], in: Self.zone(zone), stamp())
    }

    package func save(_ name: String, in zone: String, text: String = "text") throws {
        let answer = try ask(.modifyRecords(saving(name, in: zone, text: text)))
        guard case .modifyRecords(let records)? = answer, case .saved? = records.zones.first?.saves.first?.result else {
            throw SessionWorld.Unexpected(answer)
        }
    }

    package static func subscription(_ id: String = "all") -> WireSubscription {
        var subscription = WireSubscription()
        subscription.id = id
        subscription.kind = .database
        return subscription
    }

    package func subscribe(_ id: String = "all") throws {
        var request = WireModifySubscriptions()
        request.database = .private
        request.saves = [Self.subscription(id)]
        let answer = try ask(.modifySubscriptions(request))
        guard case .modifySubscriptions(let results)? = answer, results.saves.first?.subscription.id == id else {
            throw SessionWorld.Unexpected(answer)
        }
    }

    package static func zoneChanges(_ name: String, token: [UInt8] = [], limit: UInt32 = 0) -> WireFetchZoneChanges {
        var request = WireFetchZoneChanges()
        request.database = .private
        request.zone = zone(name)
        request.token = token
        request.limit = limit
        return request
    }
}
