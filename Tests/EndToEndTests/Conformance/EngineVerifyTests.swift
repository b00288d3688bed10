// SPDX-License-Identifier: Apache-2.0

import CloudKit
import Testing
import TidemarkTestSupport

/// Both sides of a zone, compared and mended, on TestKit and on a real server.
@Suite struct EngineVerifyTests {
    /// An app that keeps the tags of its records, and loses them if it is told to.
    private actor Keeper: TidemarkSyncEngineDelegate {
        private var tags: [CKRecord.ID: String] = [:]

        func lose(_ id: CKRecord.ID) { tags[id] = nil }

        func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
            switch event {
            case .fetchedRecordZoneChanges(let changes):
                for record in changes.modifications.map(\.record) { tags[record.recordID] = record.recordChangeTag }
                for deletion in changes.deletions { tags[deletion.recordID] = nil }
            case .didFetchRecordZoneChanges(let end):
                guard let fullFetch = end.fullFetch else { return }
                for id in fullFetch.recordIDsNotFetched(among: tags.keys) { tags[id] = nil }
            default: break
            }
        }

        func handleStoreEvent(_ event: TidemarkStoreEvent, syncEngine: CKSyncEngine) async {}

        func heldChangeTags(in zoneID: CKRecordZone.ID, syncEngine: CKSyncEngine) async -> [CKRecord.ID: String]? {
            tags.filter { $0.key.zoneID == zoneID }
        }

        func nextRecordZoneChangeBatch(
            _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
        ) async -> CKSyncEngine.RecordZoneChangeBatch? { nil }
    }

    private static func text(_ comparison: TidemarkZoneComparison) -> String {
        func names(_ ids: [CKRecord.ID]) -> String { ids.map(\.recordName).joined(separator: " ") }
        return """
            \(comparison.serverRecordCount): here \(names(comparison.missingHere)), there \
            \(names(comparison.missingThere)), different \(names(comparison.different))
            """
    }

    @Test
    func `R-842, R-844, R-845: both sides are equal after deletions, compaction and a restore, or it is said how not`()
        async throws
    {
        let seen = try await Both.clouds { cloud in
            let other = try await cloud.device(of: "alice").database
            try await other.save(CKRecordZone(zoneID: Both.notes))
            for name in ["a", "b", "c"] { try await other.save(Both.note(name, ["text": "one"])) }
            let keeper = Keeper()
            var configuration = CKSyncEngine.Configuration(
                database: try await cloud.device(of: "alice").database, stateSerialization: nil, delegate: keeper)
            configuration.automaticallySync = false
            let engine = CKSyncEngine(configuration)
            var seen: [String] = []
            func verify() async throws { seen.append(Self.text(try await engine.verify(Both.notes))) }
            try await verify()
            try await other.deleteRecord(withID: Both.id("b"))
            let edited = try await other.record(for: Both.id("a"))
            edited["text"] = "two"
            try await other.save(edited)
            try await verify()
            try await cloud.forgetDeletions()
            try await verify()
            await keeper.lose(Both.id("c"))
            try await verify()
            try await engine.resync(Both.notes)
            try await verify()
            try await cloud.expireTokens()
            try await cloud.run(until: "it is fetched anew") { (try? await engine.fetchChanges()) != nil }
            try await verify()
            try await other.save(Both.note("d", ["text": "one"]))
            try await verify()
            withExtendedLifetime(keeper) {}
            return seen
        }
        func equal(_ count: Int) -> String { "\(count): here , there , different " }
        #expect(seen == [equal(3), equal(2), equal(2), "2: here c, there , different ", equal(2), equal(2), equal(3)])
    }
}
