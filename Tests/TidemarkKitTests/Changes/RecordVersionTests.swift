// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkDomain
import TidemarkFields

@testable import TidemarkKit

/// Tags and tokens as servers make them, read as clients do.
@Suite struct RecordVersionTests {
    private static let first = StoreIncarnation(0xFEED_0000_0000_0001)
    private static let second = first.next(mark: 7)
    private static let third = second.next(mark: 8)
    /// From the same backup as `second`.
    private static let sibling = first.next(mark: 9)
    /// The zone's number when the backup of the first life was made, and where the second life begins.
    private static let backup: ChangeNumber = 10
    private static let restored = backup.inNextLife

    private func record(
        _ store: StoreIncarnation, _ number: ChangeNumber, zone: Int64 = 3, name: String = "A/1"
    ) -> CKRecord {
        let tag = ChangeTag.version(store: store, zone: ZoneID(zone), number: number).bytes
        return CKRecord(
            recordID: recordID(name), recordType: "Note", fields: FieldMap(),
            metadata: ServerMetadata(tag: tag, createdAt: 0, modifiedAt: 0))
    }

    @Test func `R-228: a tag tells which of two versions is newer, also when the store was restored between them`() {
        let (first, second, third, sibling) = (Self.first, Self.second, Self.third, Self.sibling)
        let (backup, restored) = (Self.backup, Self.restored)
        typealias Case = (one: CKRecord, other: CKRecord, order: TidemarkVersionOrder, reversed: TidemarkVersionOrder)
        let cases: [Case] = [
            (record(first, 5), record(first, 5), .same, .same),
            (record(first, 5), record(first, 6), .older, .newer),
            // The fetch after the restore, and what the app has of the life before: of the backup, older, and lost.
            (record(second, 5), record(first, 5), .same, .same),
            (record(second, backup), record(first, backup - 1), .newer, .older),
            (record(second, 5), record(first, backup + 1), .wentBack, .newer),
            // Saved since the restore: whether the app's version was in the backup, its tag does not say.
            (record(second, restored + 1), record(first, 5), .unrelated, .unrelated),
            (record(second, restored + 1), record(first, backup + 1), .unrelated, .unrelated),
            (record(second, restored + 1), record(second, backup), .newer, .older),
            // The next restore.
            (record(third, restored + 1), record(second, restored + 2), .wentBack, .newer),
            (record(third, 5), record(second, restored + 2), .wentBack, .newer),
            // Lives that are further apart, and two restores of one backup.
            (record(third, 5), record(first, 5), .unrelated, .unrelated),
            (record(sibling, restored + 1), record(second, restored + 2), .unrelated, .unrelated),
            // Another zone of that name, another record, no record.
            (record(first, 5), record(first, 6, zone: 4), .unrelated, .unrelated),
            (record(first, 5), record(first, 6, name: "A/2"), .unrelated, .unrelated),
            (record(first, 5), CKRecord(recordType: "Note", recordID: recordID("A/1")), .unrelated, .unrelated),
        ]
        for (index, test) in cases.enumerated() {
            #expect(test.one.versionOrder(relativeTo: test.other) == test.order, "case \(index)")
            #expect(test.other.versionOrder(relativeTo: test.one) == test.reversed, "case \(index), reversed")
            let isOlder = [.older, .wentBack].contains(test.order)
            #expect(test.one.isOlder(than: test.other) == isOlder, "case \(index)")
        }
    }

    @Test func `R-228: what a full fetch has shown of the backup tells what was in it`() {
        // As a zone's feed has them: two from the backup, and two that were saved since the restore.
        let numbers = [4, 8, Self.restored + 1, Self.restored + 2]
        let fetched = numbers.map { record(Self.second, $0) }
        var history = RestoredHistory()
        for record in fetched { record.note(&history) }
        for number in ChangeNumber(1)...9 {
            let mine = record(Self.first, number)
            for record in fetched.suffix(2) {
                // 9 may have been saved after the backup.
                let isInBackup = number <= 8
                #expect(record.versionOrder(relativeTo: mine) == (isInBackup ? .newer : .unrelated), "\(number)")
                #expect(mine.versionOrder(relativeTo: record) == (isInBackup ? .older : .unrelated), "\(number)")
            }
        }
        #expect(fetched[0].versionOrder(relativeTo: record(Self.first, 9)) == .wentBack)
        let others = record(Self.sibling, 3)
        #expect(fetched[3].versionOrder(relativeTo: others) == .unrelated)
    }

    @Test func `R-228: every tag and token can be read, and nothing else is taken for one`() throws {
        let numbers: [UInt64] = [0, 1, 127, 128, 1 << 40, UInt64(Int64.max), .max]
        for store in numbers {
            for number in numbers {
                let tag = ChangeTag.version(
                    store: StoreIncarnation(store), zone: ZoneID(Int64(bitPattern: number)),
                    number: Int64(bitPattern: number))
                let version = RecordVersion(life: StoreLife(rawValue: store), zone: number, number: number)
                #expect(RecordVersion(tag: tag.bytes) == version)
                for index in tag.bytes.indices {
                    var bytes = tag.bytes
                    bytes[index] ^= 0x41
                    #expect(RecordVersion(tag: bytes) == nil)
                    #expect(RecordVersion(tag: Array(tag.bytes.prefix(index))) == nil)
                }
            }
            let position = ZonePageQuery.Position(zone: ZoneID(3), number: 6, begunAt: 5)
            let key = ZoneKey(database: DatabaseID(9), name: "A")
            let zones = [nil, UserID(4)].map { viewer in
                ChangeToken.zone(key, viewer: viewer, store: StoreIncarnation(store), position: position)
            }
            let database = ChangeToken.database(
                store: StoreIncarnation(store), viewer: DatabaseID(9), position: FeedPosition(number: 5))
            let life = StoreLife(rawValue: store)
            for zone in zones {
                #expect(
                    FeedPlace(CKServerChangeToken(bytes: zone.bytes)) == FeedPlace(life: life, zone: 3, number: 6))
            }
            #expect(
                FeedPlace(CKServerChangeToken(bytes: database.bytes)) == FeedPlace(life: life, zone: 0, number: 5))
        }
        #expect(FeedPlace(CKServerChangeToken(bytes: [1, 2, 3, 4, 5])) == nil)
    }

    /// If such a token that has expired were not understood, what a share's end takes away would be taken for lost by a
    /// restored server, and saved again.
    @Test(arguments: [[7], [UInt8](repeating: 0xFF, count: 9) + [1]])
    func `R-552, R-988: the token of a zone of which hierarchies are shared tells as much, whatever follows`(
        mark: [UInt8]
    ) {
        let key = ZoneKey(database: DatabaseID(9), name: "A")
        /// With the mark of the viewer's shares at its end.
        func token(_ number: ChangeNumber) -> CKServerChangeToken {
            let position = ZonePageQuery.Position(zone: ZoneID(3), number: number, begunAt: 5)
            let viewed = ChangeToken.zone(key, viewer: UserID(4), store: StoreIncarnation(8), position: position)
            var bytes = viewed.bytes.dropLast(4) + mark
            let sum = bytes.reduce(UInt32(2_166_136_261)) { ($0 ^ UInt32($1)) &* 16_777_619 }
            for shift in [24, 16, 8, 0] as [UInt32] { bytes.append(UInt8(truncatingIfNeeded: sum >> shift)) }
            return CKServerChangeToken(bytes: Array(bytes))
        }
        #expect(FeedPlace(token(6)) == FeedPlace(life: StoreLife(rawValue: 8), zone: 3, number: 6))
        let reason = TidemarkFullFetch.Reason(expired: token(6), new: token(9), isEnd: true)
        #expect(reason == .deletionsForgotten)
    }
}
