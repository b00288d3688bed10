// SPDX-License-Identifier: Apache-2.0

import Synchronization
import TidemarkBytes
import TidemarkDomain
import TidemarkFields
import TidemarkScheduling
import TidemarkService
import TidemarkSessions
import TidemarkTestKit
import TidemarkTestSupport
import TidemarkWire

/// A store in memory with any number of servers' hubs on it, on one scheduler whose time the test moves.
struct SessionWorld {
    /// One server, or what one of its event loops has.
    struct Server {
        let service: CloudService
        let hub: SessionHub
        let faults: Faults
        let listener: Int
        let assets: MemoryAssetStore
    }

    static let container = "iCloud.dev.tidemark"

    let scheduler = ManualScheduler()
    let database: MemoryDatabase
    /// The first server's event loops.
    let loops: [Server]

    /// The first server's first event loop.
    var server: Server { loops[0] }

    /// - Parameters:
    ///   - loopCount: event loops of the first server.
    ///   - change: to its settings.
    init(loopCount: Int = 1, _ change: (inout SessionSettings) -> Void = { _ in }) {
        database = MemoryDatabase(scheduler: scheduler)
        let sharedWrites = SharedWrites()
        loops = (0..<loopCount).map { [database, scheduler] _ in
            Self.makeServer(on: database, scheduler, sharedWrites, change)
        }
        SessionHub.unite(loops.map(\.hub))
        for loop in loops.dropFirst() { database.stopListening(loop.listener) }
        issue("alice")
        issue("bob")
    }

    func anotherServer(_ change: (inout SessionSettings) -> Void = { _ in }) -> Server {
        Self.makeServer(on: database, scheduler, nil, change)
    }

    private static func makeServer(
        on database: MemoryDatabase, _ scheduler: ManualScheduler, _ sharedWrites: SharedWrites?,
        _ change: (inout SessionSettings) -> Void
    ) -> Server {
        var settings = SessionSettings(serverName: "tidemark/test") { $0.reversed() }
        settings.createsContainers = true
        change(&settings)
        let faults = Faults()
        let outlet = MovedOutlet()
        let assets = MemoryAssetStore()
        let service = CloudService(
            storage: MemoryStore(database, faults: FaultPlan(at: faults.at)), assets: assets, scheduler: scheduler,
            limits: settings.limits, sharedWrites: sharedWrites, onMoved: outlet.moved)
        let hub = SessionHub(service: service, scheduler: scheduler, settings: settings)
        outlet.connect { hub.committed($0) }
        let listener = database.listen { hub.heard($0) }
        return Server(service: service, hub: hub, faults: faults, listener: listener, assets: assets)
    }

    /// A credential whose text is the account's name.
    @discardableResult
    func issue(_ name: String, expiresAt: Timestamp? = nil) -> CredentialID {
        database.issueCredential(hash: Array(name.utf8).reversed(), account: name, expiresAt: expiresAt)
    }

    /// A connection that has said nothing.
    func connect(to server: Server? = nil) -> TestClient {
        TestClient((server ?? self.server).hub, scheduler)
    }

    /// A connection whose `Hello` was accepted.
    func enter(
        _ account: String = "alice", device: UInt64 = 1, life: UInt64? = nil, server: Server? = nil
    ) throws -> TestClient {
        let client = connect(to: server)
        let answer = try client.ask(.hello(Self.hello(account, device: device, life: life)))
        guard case .hello? = answer else { throw Unexpected(answer) }
        return client
    }

    /// - Parameter life: nil: as a client that knows of no lives.
    static func hello(_ account: String, device: UInt64 = 1, life: UInt64? = nil) -> WireHello {
        var hello = WireHello()
        hello.container = container
        hello.credential = account
        hello.device = [UInt8](DeviceID(high: 0, low: device).bytes)
        hello.deviceName = "device \(device)"
        if let life { hello.life = [UInt8](DeviceID(high: 1, low: life).bytes) }
        return hello
    }

    struct Unexpected: Error, CustomStringConvertible {
        let description: String
        init(_ answer: WireServerEnvelope.OneOfAnswer?) {
            description = "unexpected answer: \(String(describing: answer))"
        }
    }
}

/// What goes wrong in a server's store from now on.
final class Faults: Sendable {
    private let faults = Mutex<[FaultPoint: Fault]>([:])

    func always(_ point: FaultPoint, _ fault: Fault) { faults.withLock { $0[point] = fault } }
    func at(_ point: FaultPoint) -> Fault { faults.withLock { $0[point] ?? .none } }
}

/// The other end of a session: what it was sent, and whether it takes it.
final class TestClient: SessionPeer {
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
    }

    private let state = Mutex(State())
    private let scheduler: ManualScheduler

    init(_ hub: SessionHub, _ scheduler: ManualScheduler) {
        self.scheduler = scheduler
        let session = hub.makeSession(peer: self)
        state.withLock { $0.session = session }
    }

    // MARK: SessionPeer

    func send(_ message: [UInt8]) {
        let envelope = try? WireServerEnvelope(reading: message)
        state.withLock { state in
            guard state.closed == nil else { return }
            state.inbox.append(envelope ?? WireServerEnvelope())
            if !state.takesAnswers { state.queuedByteCount += message.count }
        }
    }

    func send(_ message: SharedMessage) {
        state.withLock { $0.sharedCount += 1 }
        send(message.bytes)
    }

    var queuedByteCount: Int { state.withLock { $0.queuedByteCount } }
    func pauseReading() { state.withLock { $0.isReadingPaused = true } }
    func resumeReading() { state.withLock { $0.isReadingPaused = false } }

    func close(code: UInt16, reason: String) {
        state.withLock { $0.closed = $0.closed ?? (code, reason) }
        session?.closed()
    }

    // MARK: For tests

    private var session: Session? { state.withLock { $0.session } }
    var closeCode: UInt16? { state.withLock { $0.closed?.code } }
    var isReadingPaused: Bool { state.withLock { $0.isReadingPaused } }
    var inbox: [WireServerEnvelope] { state.withLock { $0.inbox } }
    var pushes: [WirePush] { inbox.filter { $0.id == 0 }.map(\.push) }
    var failures: [WireFailure] {
        inbox.compactMap { if case .failure(let failure)? = $0.answer { failure } else { nil } }
    }

    func forgetInbox() { state.withLock { $0.inbox = [] } }

    /// False: what is sent stays queued, as with a client that does not read.
    func takesAnswers(_ takes: Bool) {
        state.withLock { state in
            state.takesAnswers = takes
            if takes { state.queuedByteCount = 0 }
        }
        if takes { session?.drained() }
    }

    func disconnect() { session?.closed() }

    /// Bytes as they come.
    func post(_ bytes: [UInt8]) { session?.received(bytes) }

    /// - Returns: the request's id.
    @discardableResult
    func post(_ request: WireClientEnvelope.OneOfRequest?, id: UInt64? = nil) -> UInt64 {
        let id =
            id
            ?? state.withLock { state in
                state.lastID += 1
                return state.lastID
            }
        post(Self.envelope(request, id: id))
        return id
    }

    static func envelope(_ request: WireClientEnvelope.OneOfRequest?, id: UInt64) -> [UInt8] {
        var envelope = WireClientEnvelope()
        envelope.id = id
        envelope.request = request
        return envelope.encoded
    }

    /// Sends a request, lets everything happen that does not need time to pass, and returns the answer.
    func ask(_ request: WireClientEnvelope.OneOfRequest) throws -> WireServerEnvelope.OneOfAnswer? {
        let id = post(request)
        scheduler.runUntilIdle()
        return answer(to: id)
    }

    func answer(to id: UInt64) -> WireServerEnvelope.OneOfAnswer? {
        inbox.first { $0.id == id }?.answer
    }

    func stamp() -> WireRequestStamp {
        var stamp = WireRequestStamp()
        stamp.counter = state.withLock { state in
            state.counter += 1
            return state.counter
        }
        stamp.lowestUnanswered = stamp.counter
        return stamp
    }
}

// MARK: Requests

extension TestClient {
    static func zone(_ name: String) -> WireZoneID {
        var zone = WireZoneID()
        zone.name = name
        return zone
    }

    func makeZone(_ name: String) throws {
        var request = WireModifyZones()
        request.database = .private
        request.stamp = stamp()
        request.saves = [Self.zone(name)]
        let answer = try ask(.modifyZones(request))
        guard case .modifyZones(let zones)? = answer, zones.saves.first?.failure.code == .unspecified else {
            throw SessionWorld.Unexpected(answer)
        }
    }

    func deleteZone(_ name: String) throws {
        var request = WireModifyZones()
        request.database = .private
        request.stamp = stamp()
        request.deletes = [Self.zone(name)]
        let answer = try ask(.modifyZones(request))
        guard case .modifyZones(let zones)? = answer, zones.deletes.first?.failure.code == .unspecified else {
            throw SessionWorld.Unexpected(answer)
        }
    }

    func saving(_ name: String, in zone: String, text: String = "text") throws -> WireModifyRecords {
        var save = WireRecordSave()
        save.name = name
        save.type = "Note"
        save.fields = [UInt8](try FieldMap([Field("text", .string(text))]).bytes)
        var part = WireZoneModifications()
        part.zone = Self.zone(zone)
        part.saves = [save]
        var request = WireModifyRecords()
        request.database = .private
        request.stamp = stamp()
        request.policy = .allKeys
        request.zones = [part]
        return request
    }

    func save(_ name: String, in zone: String, text: String = "text") throws {
        let answer = try ask(.modifyRecords(saving(name, in: zone, text: text)))
        guard case .modifyRecords(let records)? = answer, case .saved? = records.zones.first?.saves.first?.result else {
            throw SessionWorld.Unexpected(answer)
        }
    }

    static func subscription(_ id: String = "all") -> WireSubscription {
        var subscription = WireSubscription()
        subscription.id = id
        subscription.kind = .database
        return subscription
    }

    func subscribe(_ id: String = "all") throws {
        var request = WireModifySubscriptions()
        request.database = .private
        request.saves = [Self.subscription(id)]
        let answer = try ask(.modifySubscriptions(request))
        guard case .modifySubscriptions(let results)? = answer, results.saves.first?.subscription.id == id else {
            throw SessionWorld.Unexpected(answer)
        }
    }

    static func zoneChanges(_ name: String, token: [UInt8] = [], limit: UInt32 = 0) -> WireFetchZoneChanges {
        var request = WireFetchZoneChanges()
        request.database = .private
        request.zone = zone(name)
        request.token = token
        request.limit = limit
        return request
    }
}
