// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkDomain
import TidemarkFields

@testable import TidemarkKit

/// Merges of a record with that of a server that was restored from a backup.
@Suite struct TidemarkMergeRestoreTests {
    private static let old = StoreIncarnation(1)
    private static let new = old.next(mark: 7)

    private func stored(_ values: [String: Int], _ store: StoreIncarnation, _ number: ChangeNumber) -> CKRecord {
        let record = CKRecord(recordType: "Note", recordID: recordID("A/1"))
        for (key, value) in values { record[key] = value }
        let tag = ChangeTag.version(store: store, zone: ZoneID(3), number: number).bytes
        return CKRecord(
            recordID: recordID("A/1"), recordType: "Note",
            fields: (try? record.changes(all: true).fields) ?? FieldMap(),
            metadata: ServerMetadata(tag: tag, createdAt: 0, modifiedAt: 0))
    }

    /// The client has what was saved as number 8 of the old life, in which it sets `b`.
    private func merged(_ rules: TidemarkMerge, server: [String: Int], _ number: ChangeNumber) -> CKRecord? {
        let client = stored(["a": 2, "b": 2, "c": 2], Self.old, 8)
        client["b"] = 3
        return CKError(serverRecordChanged: stored(server, Self.new, number), client: client).merged(by: rules)
    }

    private func values(_ record: CKRecord?) -> [String: Int] {
        (record?.allKeys() ?? []).reduce(into: [:]) { $0[$1] = record?[$1] as Int? }
    }

    @Test func `R-228: what a restored server has of old is nobody's edit, and undoes nothing`() {
        for rules in [TidemarkMerge(.serverWins), TidemarkMerge(.clientWins)] {
            let record = merged(rules, server: ["a": 1, "b": 1, "d": 1], 5)
            #expect(values(record) == ["a": 2, "b": 3, "c": 2, "d": 1])
            #expect(record?.changedKeys().sorted() == ["a", "b", "c"])
            #expect(record?.recordChangeTag == stored([:], Self.new, 5).recordChangeTag)
        }
    }

    @Test func `R-228: what the client has removed, and moved to another parent, is so after a restore`() throws {
        func parent(_ name: String) -> CKRecord.Reference {
            CKRecord.Reference(recordID: recordID("A/\(name)"), action: .none)
        }
        for rules in [TidemarkMerge(.serverWins), TidemarkMerge(.clientWins)] {
            let client = stored(["a": 2, "b": 2], Self.old, 8)
            client["b"] = nil as Int?
            client.parent = parent("mine")
            let server = stored(["a": 2, "b": 2], Self.new, 5)
            server.parent = parent("backup's")
            let record = try #require(CKError(serverRecordChanged: server, client: client).merged(by: rules))
            #expect(values(record) == ["a": 2] && record.changedKeys() == ["b"])
            #expect(record.parent?.recordID == recordID("A/mine"))
        }
    }

    @Test func `R-228: what the backup had, too, is merged as ever`() {
        let record = merged(TidemarkMerge(.serverWins), server: ["a": 2, "b": 2, "c": 2], 8)
        #expect(values(record) == ["a": 2, "b": 3, "c": 2])
        #expect(record?.changedKeys() == ["b"])
    }

    @Test func `R-228: what was saved since the restore follows from what the backup is known to have`() {
        let client = stored(["a": 2, "b": 2], Self.old, 8)
        client["b"] = 3
        var history = RestoredHistory()
        stored([:], Self.new, 9).note(&history)
        let server = stored(["a": 1, "b": 2], Self.new, ChangeNumber(9).inNextLife + 1)
        server.note(&history)
        // Somebody has edited a, and knew what the client has.
        let record = CKError(serverRecordChanged: server, client: client).merged(by: TidemarkMerge(.clientWins))
        #expect(values(record) == ["a": 1, "b": 3] && record?.changedKeys() == ["b"])
    }

    @Test func `R-228: what was saved since the restore may lack what the client has: the policies decide`() {
        let server = ["a": 1, "b": 2, "c": 2]
        let number = ChangeNumber(8).inNextLife + 1
        #expect(values(merged(TidemarkMerge(.clientWins), server: server, number)) == ["a": 2, "b": 3, "c": 2])
        let rules = TidemarkMerge(.clientWins, fields: ["a": .serverWins])
        #expect(values(merged(rules, server: server, number)) == ["a": 1, "b": 3, "c": 2])
    }
}
