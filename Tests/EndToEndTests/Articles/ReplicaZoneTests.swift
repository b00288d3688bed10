// SPDX-License-Identifier: Apache-2.0

import CloudKit
import Testing
import TidemarkTestKit

/// A replica and its engine: what is pending; a zone that the user deletes; a server that goes back to a backup in which
/// something had been deleted once.
@Suite struct ReplicaZoneTests {
    private let cloud = TestCloud()
    private static let zoneID = CKRecordZone.ID(zoneName: "Notes")

    /// Texts by name, beside a replica.
    private actor App: TidemarkSyncEngineDelegate {
        private(set) var texts: [String: String] = [:]
        let replica: TidemarkReplica
        private var engine: CKSyncEngine?
        private var laterText: String?

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

        /// While the next record is made the user goes on writing in it.
        func writeWhileSending(_ text: String) { laterText = text }

        /// As an old state of the engine might have it.
        func addDeletion(of name: String) {
            engine?.state.add(pendingRecordZoneChanges: [.deleteRecord(id(name))])
        }

        var pendingCount: Int { engine?.state.pendingRecordZoneChanges.count ?? 0 }

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
            await replica.nextBatch(context, syncEngine) { record in await self.fillForSending(record) }
        }

        private func fillForSending(_ record: CKRecord) -> Bool {
            let isThere = fill(record)
            if let text = laterText {
                laterText = nil
                write(text, to: record.recordID.recordName)
            }
            return isThere
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

    private func serverText(_ name: String) async throws -> String? {
        let id = CKRecord.ID(recordName: name, zoneID: Self.zoneID)
        return try await cloud.account("alice").database.record(for: id)["text"]
    }

    /// The second engine has a state, and so no account event that would bring the edit along.
    @Test func `R-640: what was edited before there was an engine is sent`() async throws {
        let phone = cloud.account("alice").device("phone")
        let app = App()
        await app.write("milk", to: "shopping")
        await app.start(on: phone)
        try await cloud.settle()
        let rows = await app.end()
        let next = App(try TidemarkReplica(rows: rows))
        await next.write("tea", to: "kitchen")
        await next.start(on: phone)
        try await cloud.settle()
        #expect(try await serverText("shopping") == "milk")
        #expect(try await serverText("kitchen") == "tea" && next.replica.unsentIDs.isEmpty)
    }

    @Test func `R-641, R-516: an edit that is made while its record is written for a batch is sent, too`() async throws
    {
        let app = App()
        await app.start(on: cloud.account("alice").device("phone"))
        await app.writeWhileSending("milk, tea")
        await app.write("milk", to: "shopping")
        try await cloud.settle()
        #expect(try await serverText("shopping") == "milk, tea" && app.replica.unsentIDs.isEmpty)
    }

    @Test func `R-640: a deletion that the engine has pending, and the replica has not, is not sent`() async throws {
        let app = App()
        await app.start(on: cloud.account("alice").device("phone"))
        await app.write("milk", to: "shopping")
        try await cloud.settle()
        await app.addDeletion(of: "shopping")
        try await cloud.settle()
        #expect(try await serverText("shopping") == "milk")
        #expect(await app.texts == ["shopping": "milk"])
        #expect(await app.pendingCount == 0)
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
