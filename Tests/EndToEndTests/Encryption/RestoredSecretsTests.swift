// SPDX-License-Identifier: Apache-2.0

import CloudKit
import Testing
import TidemarkTestKit

/// Encrypted values of a store that goes back to a backup, whatever became of their keys since.
@Suite struct RestoredSecretsTests {
    private let cloud = TestCloud()
    private static let zoneID = CKRecordZone.ID(zoneName: "Secrets")

    /// Secrets by name, beside a replica.
    private actor Diary: TidemarkSyncEngineDelegate {
        private(set) var secrets: [String: String] = [:]
        private(set) var problems: [String] = []
        let replica = TidemarkReplica()
        private var engine: CKSyncEngine?
        private var count = 0
        /// When it was edited last, by a clock that all share.
        private var editedAt: [String: Int] = [:]

        func start(on device: TestDevice) {
            let engine = CKSyncEngine(
                .init(database: device.container.privateCloudDatabase, stateSerialization: nil, delegate: self))
            replica.begin(engine)
            self.engine = engine
        }

        func write(_ secret: String, to name: String, at time: Int) {
            secrets[name] = secret
            editedAt[name] = time
            replica.edited(
                CKRecord.ID(recordName: name, zoneID: RestoredSecretsTests.zoneID), as: "Secret", engine)
        }

        private func fill(_ record: CKRecord) -> Bool {
            let name = record.recordID.recordName
            guard let secret = secrets[name] else { return false }
            record.encryptedValues["secret"] = secret
            record["editedAt"] = Date(timeIntervalSince1970: Double(editedAt[name] ?? 0))
            return true
        }

        func nextRecordZoneChangeBatch(
            _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
        ) async -> CKSyncEngine.RecordZoneChangeBatch? {
            await replica.nextBatch(context, syncEngine) { record in await self.fill(record) }
        }

        func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
            let rules = TidemarkMerge(.newest(by: "editedAt"))
            for step in replica.steps(after: event, syncEngine, merging: rules, write: { fill($0) }) {
                switch step {
                case .store(let record):
                    let name = record.recordID.recordName
                    secrets[name] = record.encryptedValues["secret"]
                    editedAt[name] = (record["editedAt"] as Date?).map { Int($0.timeIntervalSince1970) }
                case .remove(let id): secrets[id.recordName] = nil
                case .removeAll: secrets = [:]
                case .zoneDeleted(_, _, let unsent): replica.send(unsent, syncEngine)
                case .refused, .zoneRefused: problems.append("\(step)")
                }
            }
        }

        func handleStoreEvent(_ event: TidemarkStoreEvent, syncEngine: CKSyncEngine) async {
            replica.take(event, syncEngine)
        }
    }

    /// What becomes of the keys between the backup and the restore.
    enum Change: CaseIterable {
        case nothing, otherDevice, newKey, firstKey, newZone, zoneMadeAgain, keysReset
    }

    private func make(_ change: Change, _ container: CKContainer, _ tablet: Diary) async throws {
        let alice = cloud.account("alice")
        switch change {
        case .newZone, .firstKey, .nothing: break
        case .otherDevice:
            await tablet.start(on: alice.device("tablet"))
            try await cloud.settle()
            await tablet.write("of the tablet", to: "tablet's", at: 2)
        case .newKey: try await container.rotateEncryptionKey(of: Self.zoneID)
        case .zoneMadeAgain:
            try await alice.database.deleteRecordZone(withID: Self.zoneID)
            try await cloud.settle()
        case .keysReset: try alice.resetEncryptedData(in: Self.zoneID)
        }
    }

    @Test(arguments: Change.allCases, [false, true])
    func `R-067, R-107, R-645: what devices have encrypted survives a restore, and all of it can be read`(
        change: Change, isOffline: Bool
    ) async throws {
        let alice = cloud.account("alice")
        let (here, away) = (alice.device("phone"), alice.device("laptop"))
        let (phone, laptop, tablet) = (Diary(), Diary(), Diary())
        await phone.start(on: here)
        await laptop.start(on: away)
        try await cloud.settle()
        switch change {
        case .newZone: break
        // The zone and no key of it, nor of the account.
        case .firstKey: try await alice.database.save(CKRecordZone(zoneID: Self.zoneID))
        default:
            for name in ["old", "edited"] { await phone.write("of the backup", to: name, at: 1) }
        }
        try await cloud.settle()
        let backup = cloud.backUp()

        var expected: [String: String] = [:]
        try await make(change, here.container, tablet)
        if change == .otherDevice { expected["tablet's"] = "of the tablet" }
        try await cloud.settle()
        await phone.write("since", to: "edited", at: 3)
        await laptop.write("since", to: "new", at: 3)
        try await cloud.settle()
        if isOffline {
            away.goOffline()
            await laptop.write("offline", to: "unsent", at: 4)
            await laptop.write("offline", to: "edited", at: 4)
            try await cloud.settle()
        }
        expected.merge(["edited": isOffline ? "offline" : "since", "new": "since"]) { $1 }
        if isOffline { expected["unsent"] = "offline" }
        // A zone that a user deletes takes its records along; the backup has them again.
        if ![.newZone, .firstKey].contains(change) { expected["old"] = "of the backup" }

        cloud.restore(backup)
        try await cloud.settle()
        await phone.write("after", to: "later", at: 5)
        expected["later"] = "after"
        try await cloud.settle()
        away.goOnline()
        try await cloud.settle()

        // Whoever comes new has no keys but the server's: what it reads is what is stored, as a whole.
        let newcomer = Diary()
        await newcomer.start(on: alice.device("new"))
        try await cloud.settle()
        for (app, name) in [(phone, "phone"), (laptop, "laptop"), (newcomer, "newcomer")] {
            #expect(await app.secrets == expected, "\(name)")
            #expect(await app.problems == [] && app.replica.unsentIDs.isEmpty, "\(name)")
        }
    }
}
