// SPDX-License-Identifier: Apache-2.0

import CloudKit
import Testing
import TidemarkTestKit

/// A replica whose zone the user deletes, and whose server goes back to a backup in which something had been deleted once.
@Suite struct ReplicaZoneTests {
    private let cloud = TestCloud()
    private static let zoneID = CKRecordZone.ID(zoneName: "Notes")

    /// Texts by name, beside a replica.
    private actor App: TidemarkSyncEngineDelegate {
        private(set) var texts: [String: String] = [:]
        let replica: TidemarkReplica
        private var engine: CKSyncEngine?

        init(_ replica: TidemarkReplica = TidemarkReplica()) { self.replica = replica }

        func start(on device: TestDevice) {
            let engine = CKSyncEngine(
                .init(
                    database: device.container.privateCloudDatabase, stateSerialization: replica.engineState,
                    delegate: self))
            replica.begin(engine)
            self.engine = engine
        }

        /// As if the process ended now: what its replica has stored.
        func end() -> [String: Data] {
            engine = nil
            return replica.rows
        }

        private func id(_ name: String) -> CKRecord.ID {
            CKRecord.ID(recordName: name, zoneID: ReplicaZoneTests.zoneID)
        }

        func write(_ text: String, to name: String) {
            texts[name] = text
            replica.edited(id(name), as: "Note", engine)
        }

        func delete(_ name: String) {
            texts[name] = nil
            replica.deleted(id(name), engine)
        }

        func deleteZone() {
            texts = [:]
            if let engine { replica.deletedZone(ReplicaZoneTests.zoneID, engine) }
        }

        private func fill(_ record: CKRecord) -> Bool {
            guard let text = texts[record.recordID.recordName] else { return false }
            record["text"] = text
            return true
        }

        func nextRecordZoneChangeBatch(
            _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
        ) async -> CKSyncEngine.RecordZoneChangeBatch? {
            await replica.nextBatch(context, syncEngine) { record in await self.fill(record) }
        }

        func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
            for step in replica.steps(
                after: event, syncEngine, merging: TidemarkMerge(.serverWins), write: { fill($0) })
            {
                switch step {
                case .store(let record): texts[record.recordID.recordName] = record["text"]
                case .remove(let id): texts[id.recordName] = nil
                case .removeAll: texts = [:]
                case .zoneDeleted(_, _, let unsent): replica.send(unsent, syncEngine)
                case .refused, .zoneRefused: Issue.record("\(step)")
                }
            }
        }

        func handleStoreEvent(_ event: TidemarkStoreEvent, syncEngine: CKSyncEngine) async {
            replica.take(event, syncEngine)
        }
    }

    private func zoneNames() async throws -> [String] {
        try await cloud.account("alice").database.allRecordZones().map(\.zoneID.zoneName)
    }

    @Test func `R-644: a zone that the user deletes is deleted, whatever becomes of the process and the account`()
        async throws
    {
        let phone = cloud.account("alice").device("phone")
        let app = App()
        await app.start(on: phone)
        await app.write("milk", to: "shopping")
        try await cloud.settle()
        phone.goOffline()
        await app.deleteZone()
        // The engine has told of no state since.
        let rows = await app.end()
        phone.goOnline()
        let next = App(try TidemarkReplica(rows: rows))
        await next.start(on: phone)
        try await cloud.settle()
        #expect(try await !zoneNames().contains("Notes"))
        await next.write("tea", to: "kitchen")
        try await cloud.settle()
        #expect(try await zoneNames().contains("Notes"))
        #expect(await next.texts == ["kitchen": "tea"] && next.replica.unsentIDs.isEmpty)
    }

    @Test(arguments: [false, true])
    func `R-552, R-645: what was made again since the backup of its deletion stays`(zoneWasDeleted: Bool) async throws {
        let alice = cloud.account("alice")
        let (phone, laptop) = (App(), App())
        await phone.start(on: alice.device("phone"))
        await laptop.start(on: alice.device("laptop"))
        await phone.write("old", to: "shopping")
        try await cloud.settle()
        if zoneWasDeleted { await phone.deleteZone() } else { await phone.delete("shopping") }
        try await cloud.settle()
        if zoneWasDeleted { await phone.write("of the backup", to: "shopping") }
        await phone.write("kept", to: "kitchen")
        try await cloud.settle()
        #expect(await laptop.texts["shopping"] == (zoneWasDeleted ? "of the backup" : nil))
        let backup = cloud.backUp()
        await phone.write("since", to: "shopping")
        try await cloud.settle()
        cloud.restore(backup)
        try await cloud.settle()
        for app in [phone, laptop] {
            #expect(await app.texts == ["shopping": "since", "kitchen": "kept"])
            #expect(app.replica.unsentIDs.isEmpty)
        }
        let id = CKRecord.ID(recordName: "shopping", zoneID: Self.zoneID)
        #expect(try await alice.database.record(for: id)["text"] as? String == "since")
    }
}
