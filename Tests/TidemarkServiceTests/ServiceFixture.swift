// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import TidemarkDomain
import TidemarkFairness
import TidemarkFields
import TidemarkScheduling
import TidemarkService
import TidemarkTestKit
import TidemarkTestSupport

/// One user's private database in memory with zones in it, in a world that a seed decides.
struct ServiceFixture: Sendable {
    let scheduler: SimulationScheduler
    let database: MemoryDatabase
    let identity: Identity
    let credentialHash = [UInt8](repeating: 7, count: 32)

    init(seed: UInt64 = 1, zones: [String] = ["notes"]) throws {
        let scheduler = SimulationScheduler(seed: seed)
        let database = MemoryDatabase(scheduler: scheduler)
        database.issueCredential(hash: credentialHash, account: "alice")
        self.scheduler = scheduler
        self.database = database
        identity = try scheduler.simulate { [credentialHash] in
            let service = CloudService(
                storage: MemoryStore(database), scheduler: scheduler, limits: Limits(), onMoved: { _ in })
            let identity = try #require(
                try await service.authenticate(
                    credentialHash: credentialHash, container: "iCloud.test", environment: .development,
                    createsContainer: true, device: DeviceID(high: 0, low: 1), deviceName: "test"
                ).get())
            let request = ZonesRequest(id: RequestID(DeviceID(high: 0, low: 1), 1), saves: zones, deletes: [])
            _ = try await service.modifyZones(
                in: identity.privateDatabase, request, for: .account(identity.account.rawValue)
            ).get()
            return identity
        }
    }

    /// Another server on the same database, or what one of its event loops has.
    func server(
        faults: FaultPlan = FaultPlan(), settings: WriteSettings = WriteSettings(), limits: Limits = Limits(),
        sharedWrites: SharedWrites? = nil, firesQueries: Bool = false,
        onMoved: @escaping @Sendable (ZonesMoved) -> Void = { _ in }
    ) -> CloudService {
        CloudService(
            storage: MemoryStore(database, faults: faults), scheduler: scheduler, limits: limits,
            writeSettings: settings, sharedWrites: sharedWrites, firesQueries: firesQueries, onMoved: onMoved)
    }

    func key(_ zone: String = "notes") -> ZoneKey {
        ZoneKey(database: identity.privateDatabase, name: zone)
    }

    /// A request that saves records whose one field is `text`, whatever is there.
    func saving(
        _ names: [String], deleting deletes: [String] = [], zone: String = "notes", text: String = "text",
        id: RequestID, policy: SavePolicy = .allKeys, isAtomic: Bool = false
    ) throws -> RecordsRequest {
        let fields = try FieldMap([Field("text", .string(text))])
        let saves = names.map { RecordSave(name: $0, type: "Note", tag: nil, fields: fields, parent: .unchanged) }
        return RecordsRequest(
            id: id, key: key(zone), saves: saves, deletes: deletes, policy: policy, isAtomic: isAtomic,
            user: identity.user, access: .owner(identity.user))
    }

    /// Days go by, until nothing is remembered that is older.
    func passEpochs() async throws {
        let kept = Limits().memoryEpochsKept
        for _ in 0..<kept {
            _ = try await MemoryStore(database).advanceMemoryEpoch(after: .zero, keeping: kept)
        }
    }

    /// What is committed, read past all faults.
    func records(in zone: String = "notes") async throws -> [RecordState] {
        try await MemoryStore(database).zonePage(
            ZonePageQuery(
                key: key(zone), after: nil, recordsMax: 100_000, bytesMax: .max, device: DeviceID(high: 0, low: 0),
                reader: nil, tombstonesPassedMax: Limits().tombstonesPassedMax)
        ).records
    }
}

extension RequestID {
    /// A device's request that still waits for everything from `lowest` on.
    init(_ device: DeviceID, _ counter: UInt64, lowest: UInt64 = 1) {
        self.init(
            device: device, counter: counter, lowestUnanswered: lowest)
    }
}

extension CloudService {
    /// One part, one outcome.
    func modify(_ request: RecordsRequest) async -> Result<RecordsOutcome, FailureReason> {
        await modifyRecords([request], for: .account(request.user.rawValue))[0]
    }
}

extension Result<RecordsOutcome, FailureReason> {
    /// The change numbers of what was saved; nil where an item failed.
    var numbers: [ChangeNumber?] {
        guard case .success(let outcome) = self else { return [] }
        return outcome.saves.map { if case .saved(let metadata) = $0 { metadata.changeNumber } else { nil } }
    }
}

extension Result where Failure == FailureReason {
    var reason: FailureReason? {
        if case .failure(let reason) = self { reason } else { nil }
    }
}

/// Counts how often each point was reached, and plays a list of faults at each.
final class FaultScript: Sendable {
    private struct State {
        var counts: [FaultPoint: Int] = [:]
        var faults: [FaultPoint: [Fault]]
    }

    private let always: [FaultPoint: Fault]
    private let state: Mutex<State>

    /// - Parameters:
    ///   - first: met one after another, then never again.
    ///   - always: met whenever there is nothing left in `first`.
    init(first: [FaultPoint: [Fault]] = [:], always: [FaultPoint: Fault] = [:]) {
        self.always = always
        state = Mutex(State(faults: first))
    }

    func count(_ point: FaultPoint) -> Int { state.withLock { $0.counts[point] ?? 0 } }

    /// What is met next, after what is left of `first`.
    func meet(_ faults: [Fault], at point: FaultPoint) {
        state.withLock { $0.faults[point, default: []] += faults }
    }

    var plan: FaultPlan {
        FaultPlan(at: { [self] point in
            state.withLock { state in
                state.counts[point, default: 0] += 1
                guard let faults = state.faults[point], let fault = faults.first else { return always[point] ?? .none }
                state.faults[point] = Array(faults.dropFirst())
                return fault
            }
        })
    }
}

typealias Log = TestLog
