// SPDX-License-Identifier: Apache-2.0

import CloudKit
import Testing
import TidemarkTestKit

/// An app whose database cannot be read for a moment: a replica's closure throws, and a real engine goes on.
@Suite struct ReplicaUnreadableTests {
    private struct Locked: Error {}

    private let cloud = TestCloud()
    private static let zoneID = CKRecordZone.ID(zoneName: "Notes")

    /// Tags by name, beside a replica.
    private actor App: TidemarkSyncEngineDelegate {
        private(set) var notes: [String: [String]] = [:]
        /// How often the app could not say what it has.
        private(set) var lockedCount = 0
        private var isReadable = true
        let replica = TidemarkReplica()
        private var engine: CKSyncEngine?

        func start(on device: TestDevice) {
            let engine = CKSyncEngine(
                .init(
                    database: device.container.privateCloudDatabase, stateSerialization: replica.engineState,
                    delegate: self))
            replica.begin(engine)
            self.engine = engine
        }

        func tag(_ name: String, _ tag: String) {
            notes[name, default: []].append(tag)
            replica.edited(
                CKRecord.ID(recordName: name, zoneID: ReplicaUnreadableTests.zoneID), as: "Note", engine)
        }

        func setReadable(_ isReadable: Bool) { self.isReadable = isReadable }

        private func fill(_ record: CKRecord) throws -> Bool {
            guard isReadable else {
                lockedCount += 1
                throw Locked()
            }
            guard let tags = notes[record.recordID.recordName] else { return false }
            record["tags"] = tags
            return true
        }

        func nextRecordZoneChangeBatch(
            _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
        ) async -> CKSyncEngine.RecordZoneChangeBatch? {
            await replica.nextBatch(context, syncEngine) { record in try await self.fill(record) }
        }

        func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
            let rules = TidemarkMerge(.serverWins, fields: ["tags": .listElements])
            for step in replica.steps(after: event, syncEngine, merging: rules, write: { try fill($0) }) {
                switch step {
                case .store(let record): notes[record.recordID.recordName] = record["tags"]
                case .remove(let id): notes[id.recordName] = nil
                case .removeAll: notes = [:]
                case .zoneDeleted(_, _, let unsent): replica.send(unsent, syncEngine)
                case .refused, .zoneRefused: Issue.record("\(step)")
                }
            }
        }

        func handleStoreEvent(_ event: TidemarkStoreEvent, syncEngine: CKSyncEngine) async {
            replica.take(event, syncEngine)
        }
    }

    private func apps(_ devices: TestDevice...) async throws -> [App] {
        var apps: [App] = []
        for device in devices {
            let app = App()
            await app.start(on: device)
            apps.append(app)
        }
        try await cloud.settle()
        return apps
    }

    @Test func `R-580, R-646: an edit that cannot be read is asked for again, and sent when it can`() async throws {
        let alice = cloud.account("alice")
        let apps = try await apps(alice.device("phone"), alice.device("laptop"))
        await apps[0].setReadable(false)
        await apps[0].tag("shopping", "milk")
        try await cloud.clock.advance(by: .seconds(120))
        let count = await apps[0].lockedCount
        #expect(count > 3 && count < 40, "\(count) questions in two minutes: with back-off, and no fewer")
        #expect(apps[0].replica.unsentIDs.map(\.recordName) == ["shopping"])
        #expect(await apps[1].notes == [:])
        await apps[0].setReadable(true)
        // Nothing else happens: the engine asks by itself.
        try await cloud.run(within: .seconds(301)) { await apps[1].notes == ["shopping": ["milk"]] }
        #expect(apps[0].replica.unsentIDs.isEmpty)
    }

    @Test func `R-642, R-646: somebody's edit that comes meanwhile is merged with it`() async throws {
        let alice = cloud.account("alice")
        let phone = alice.device("phone")
        let apps = try await apps(phone, alice.device("laptop"))
        await apps[0].tag("shopping", "milk")
        try await cloud.settle()
        phone.goOffline()
        await apps[1].tag("shopping", "eggs")
        try await cloud.settle()
        await apps[0].tag("shopping", "bread")
        await apps[0].setReadable(false)
        phone.goOnline()
        try await cloud.clock.advance(by: .seconds(60))
        #expect(await apps[0].notes == ["shopping": ["milk", "bread"]])
        #expect(apps[0].replica.unsentIDs.map(\.recordName) == ["shopping"])
        let id = CKRecord.ID(recordName: "shopping", zoneID: Self.zoneID)
        #expect(apps[0].replica.serverRecord(for: id)?["tags"] as [String]? == ["milk", "eggs"])
        await apps[0].setReadable(true)
        try await cloud.run(within: .seconds(301)) { apps[0].replica.unsentIDs.isEmpty }
        try await cloud.settle()
        for app in apps { #expect(await Set(app.notes["shopping"] ?? []) == ["milk", "eggs", "bread"]) }
    }

    @Test func `R-643, R-646: a change of account waits until unsent edits can be read, and sends none of them`()
        async throws
    {
        let (alice, bob) = (cloud.account("alice"), cloud.account("bob"))
        let phone = alice.device("phone")
        let apps = try await apps(phone, alice.device("laptop"), bob.device("tablet"))
        await apps[0].tag("shopping", "milk")
        await apps[2].tag("shopping", "bob's")
        try await cloud.settle()
        phone.goOffline()
        await apps[0].tag("shopping", "unsent")
        await apps[0].setReadable(false)
        phone.signIn(bob)
        phone.goOnline()
        try await cloud.clock.advance(by: .seconds(60))
        #expect(await apps[0].notes == ["shopping": ["milk", "unsent"]])
        #expect(await apps[2].notes == ["shopping": ["bob's"]])
        await apps[0].setReadable(true)
        await apps[2].tag("shopping", "news")
        try await cloud.settle()
        #expect(await apps[0].notes == ["shopping": ["bob's", "news"]])
        phone.signIn(alice)
        try await cloud.settle()
        for app in apps.prefix(2) { #expect(await app.notes == ["shopping": ["milk", "unsent"]]) }
        #expect(await apps[2].notes == ["shopping": ["bob's", "news"]])
    }
}
