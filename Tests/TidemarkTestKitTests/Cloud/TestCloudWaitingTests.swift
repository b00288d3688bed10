// SPDX-License-Identifier: Apache-2.0

import CloudKit
import Synchronization
import Testing
import TidemarkTestKit

/// A callback of an app may wait for what needs time. Time passes only when a test moves it, so `settle()` must return.
@Suite struct TestCloudWaitingTests {
    enum Wait: CaseIterable {
        case patientFetch, threePatientFetches, saveUnderWay
    }

    private struct Counts {
        var isReady = false
        var begun = 0
        var ended = 0

        mutating func begin() -> Bool {
            if isReady { begun += 1 }
            return isReady
        }
    }

    private let cloud = TestCloud()
    private let zone = CKRecordZone(zoneName: "Notes")

    private func note(_ name: String) -> CKRecord {
        CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: name, zoneID: zone.zoneID))
    }

    fileprivate static func fetchPatiently(_ id: CKRecord.ID, in database: CKDatabase) async throws {
        let configuration = CKOperation.Configuration()
        configuration.qualityOfService = .utility
        _ = try await database.configuredWith(configuration: configuration) { database in
            try await database.records(for: [id])
        }
    }

    @Test(arguments: Wait.allCases)
    func `R-257: a handler of notifications that waits for time lets the cloud settle`(_ wait: Wait) async throws {
        let alice = cloud.account("alice")
        let (phone, laptop) = (alice.device("phone"), alice.device("laptop"))
        let database = phone.container.privateCloudDatabase
        let (id, ownID) = (note("a").recordID, note("own").recordID)
        try await database.save(zone)
        try await database.save(CKDatabaseSubscription(subscriptionID: "all"))
        let counts = Mutex(Counts())
        phone.container.handleRemoteNotifications { [cloud] _ in
            guard counts.withLock({ $0.begin() }) else { return }
            switch wait {
            case .patientFetch:
                try? await Self.fetchPatiently(id, in: database)
            case .threePatientFetches:
                await withTaskGroup { group in
                    for _ in 0..<3 { group.addTask { try? await Self.fetchPatiently(id, in: database) } }
                }
            case .saveUnderWay:
                cloud.observe { _ in phone.goOffline() }
                _ = try? await database.save(CKRecord(recordType: "Note", recordID: ownID))
            }
            counts.withLock { $0.ended += 1 }
        }
        try await cloud.settle()
        counts.withLock { $0.isReady = true }
        if wait != .saveUnderWay { phone.throttle(for: .seconds(60)) }
        try await laptop.container.privateCloudDatabase.save(note("a"))
        try await cloud.settle()
        #expect(counts.withLock { $0.begun == 1 && $0.ended == 0 })
        try await cloud.clock.advance(by: .seconds(100))
        phone.goOnline()
        try await cloud.run { counts.withLock { $0.ended } >= 1 }
    }

    /// Reads again what it hears of, on a device that the server just then throttles.
    private actor Reader: CKSyncEngineDelegate {
        private(set) var readCount = 0
        private let device: TestDevice
        private var engine: CKSyncEngine?

        init(on device: TestDevice) async {
            self.device = device
            engine = CKSyncEngine(
                CKSyncEngine.Configuration(
                    database: device.container.privateCloudDatabase, stateSerialization: nil, delegate: self))
        }

        func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
            guard case .fetchedRecordZoneChanges(let changes) = event else { return }
            device.throttle(for: .seconds(60))
            for change in changes.modifications {
                try? await TestCloudWaitingTests.fetchPatiently(change.record.recordID, in: syncEngine.database)
                readCount += 1
            }
        }

        func nextRecordZoneChangeBatch(
            _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
        ) async -> CKSyncEngine.RecordZoneChangeBatch? { nil }
    }

    @Test func `R-533: a delegate that waits for time lets the cloud settle`() async throws {
        let alice = cloud.account("alice")
        let phone = alice.device("phone")
        _ = try await alice.database.modifyRecordZones(saving: [zone], deleting: [])
        _ = try await alice.database.modifyRecords(saving: [note("a"), note("b")], deleting: [])
        let reader = await Reader(on: phone)
        try await cloud.settle()
        #expect(await reader.readCount == 0)
        try await cloud.run { await reader.readCount == 2 }
    }
}
