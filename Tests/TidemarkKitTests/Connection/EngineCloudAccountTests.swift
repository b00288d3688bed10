// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import TidemarkScheduling
import TidemarkTestSupport

@testable import TidemarkKit

/// Accounts that change between what an engine decides and what its requests do.
@Suite struct EngineCloudAccountTests {
    /// Where somebody else signs in.
    enum Place: CaseIterable {
        case willSend, asked, hasBatch, willFetch
    }

    private let scheduler = ManualScheduler()
    private let server: ScriptedServer
    private let delegate = RecordingDelegate()

    init() {
        server = ScriptedServer(scheduler)
    }

    private func makeEngine(_ container: CKContainer) -> CKSyncEngine {
        var configuration = CKSyncEngine.Configuration(
            database: container.privateCloudDatabase, stateSerialization: nil, delegate: delegate)
        configuration.automaticallySync = false
        configuration.host = LateCloud.host(of: container.privateCloudDatabase, scheduler)
        return CKSyncEngine(configuration)
    }

    /// What was asked for bob.
    private var ofBob: [String] { server.log.filter { $0.hasPrefix("bob ") && $0 != "bob hello" } }

    @Test(arguments: Place.allCases)
    func `R-159: what was decided for one user is not sent for another of whom the engine has not heard yet`(
        place: Place
    ) throws {
        let container = server.container()
        let engine = makeEngine(container)
        scheduler.advance(by: .seconds(3))
        #expect(delegate.log.first == "accountChange signIn _alice")
        delegate.save("A/1", in: engine)
        if place == .willSend { engine.state.add(pendingDatabaseChanges: [zoneChange("B")]) }
        let unsent = Mutex<[String]>([])
        delegate.onEvent = { event, _ in
            switch event {
            case .willSendChanges: if place == .willSend { container.signIn(token: "bob") }
            case .willFetchChanges: if place == .willFetch { container.signIn(token: "bob") }
            case .accountChange(let change):
                let texts = change.unsentRecordZoneChanges.map(\.text) + change.unsentDatabaseChanges.map(\.text)
                unsent.withLock { $0 = texts }
            default: break
            }
        }
        if place == .asked { delegate.onAsk = { _ in container.signIn(token: "bob") } }
        if place == .hasBatch { delegate.onBatch = { _ in container.signIn(token: "bob") } }
        #expect(throws: CKError.self) {
            try scheduler.complete {
                if place == .willFetch { try await engine.fetchChanges() } else { try await engine.sendChanges() }
            }
        }
        scheduler.advance(by: .seconds(5))
        #expect(ofBob == [])
        #expect(delegate.log.contains("accountChange switch _alice _bob"))
        #expect(unsent.withLock { $0 } == (place == .willSend ? ["A/1", "B"] : ["A/1"]))
        #expect(engine.state.pendingRecordZoneChanges == [] && engine.state.pendingDatabaseChanges == [])
    }

    @Test func `R-159: a cloud that knows of another user refuses each request for the one before`() throws {
        let container = server.container()
        let cloud = container.privateCloudDatabase.syncEngineHost.makeCloud(Array(0..<16), nil)
        #expect(try scheduler.complete { try await cloud.currentUser() }?.recordName == "_alice")
        container.signIn(token: "bob")
        #expect(try scheduler.complete { try await cloud.currentUser() }?.recordName == "_bob")
        let requests: [@Sendable () async throws -> Void] = [
            { _ = try await cloud.ensureSubscription(id: nil, for: user("alice")) },
            { _ = try await cloud.modifyZones(saving: [], deleting: [zone("A")], for: user("alice")) },
            {
                _ = try await cloud.modifyRecords(
                    saving: [CKRecord(recordType: "Note", recordID: recordID("A/1"))], deleting: [recordID("A/2")],
                    atomicByZone: false, for: user("alice"))
            },
            {
                _ = try await cloud.databaseChanges(
                    since: nil, expecting: nil, asPushed: false, relyingOn: nil, for: user("alice"))
            },
            { _ = try await cloud.zoneChanges(in: zone("A"), since: nil, asOfFeed: false, for: user("alice")) },
        ]
        for request in requests {
            let error = #expect(throws: CKError.self) { try scheduler.complete { try await request() } }
            #expect(error?.code == .notAuthenticated)
        }
        #expect(ofBob == [])
        _ = try scheduler.complete {
            try await cloud.databaseChanges(since: nil, expecting: nil, asPushed: false, for: user("bob"))
        }
        #expect(ofBob == ["bob fetchDatabaseChanges"])
        cloud.close()
    }
}

/// An engine's cloud on a busy device: its requests leave late, and the engine hears later still who is signed in.
private final class LateCloud: SyncEngineCloud {
    private let base: any SyncEngineCloud
    private let scheduler: ManualScheduler

    private init(_ base: any SyncEngineCloud, _ scheduler: ManualScheduler) {
        self.base = base
        self.scheduler = scheduler
    }

    static func host(of database: CKDatabase, _ scheduler: ManualScheduler) -> SyncEngineHost {
        let host = database.syncEngineHost
        return SyncEngineHost(scheduler: host.scheduler) { identity, returningUser in
            LateCloud(host.makeCloud(identity, returningUser), scheduler)
        }
    }

    private func pass(_ time: Duration) async {
        try? await scheduler.sleep(for: time)
    }

    var storeLife: UInt64? { base.storeLife }

    func setObserver(_ observer: any SyncEngineCloudObserver) { base.setObserver(observer) }

    func close() { base.close() }

    func currentUser() async throws(CKError) -> CKRecord.ID? {
        let user = try await base.currentUser()
        await pass(.seconds(1))
        return user
    }

    func ensureSubscription(id: CKSubscription.ID?, for user: CKRecord.ID) async throws(CKError) -> CKSubscription.ID {
        await pass(.milliseconds(500))
        return try await base.ensureSubscription(id: id, for: user)
    }

    func modifyZones(
        saving zones: [CKRecordZone], deleting zoneIDs: [CKRecordZone.ID], for user: CKRecord.ID
    ) async throws(CKError) -> SyncEngineZoneResults {
        await pass(.milliseconds(500))
        return try await base.modifyZones(saving: zones, deleting: zoneIDs, for: user)
    }

    func modifyRecords(
        saving records: [CKRecord], deleting recordIDs: [CKRecord.ID], atomicByZone: Bool, for user: CKRecord.ID
    ) async throws(CKError) -> SyncEngineRecordResults {
        await pass(.milliseconds(500))
        return try await base.modifyRecords(
            saving: records, deleting: recordIDs, atomicByZone: atomicByZone, for: user)
    }

    func databaseChanges(
        since token: CKServerChangeToken?, expecting place: SyncEngineZonePlace?, asPushed: Bool,
        for user: CKRecord.ID
    ) async throws(CKError) -> SyncEngineDatabasePage {
        await pass(.milliseconds(500))
        return try await base.databaseChanges(since: token, expecting: place, asPushed: asPushed, for: user)
    }

    func zoneChanges(
        in zoneID: CKRecordZone.ID, since token: CKServerChangeToken?, asOfFeed: Bool, for user: CKRecord.ID
    ) async throws(CKError) -> SyncEngineZonePage {
        await pass(.milliseconds(500))
        return try await base.zoneChanges(in: zoneID, since: token, asOfFeed: asOfFeed, for: user)
    }
}
