// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkBytes
import TidemarkDomain
import TidemarkFields
import TidemarkTestSupport
import TidemarkWire

@testable import TidemarkTranslation

@Suite struct ZonePageEncoderTests {
    /// What the generated code makes of the same page. Its records are as in every other answer, so that a new field of records
    /// must be on pages too.
    private func reference(
        _ id: UInt64, _ page: ZonePage, _ selection: FieldSelection?, seenFrom viewpoint: Viewpoint = Examples.viewpoint
    ) throws -> WireServerEnvelope {
        var answer = WireFetchZoneChangesAnswer()
        answer.token = page.token.bytes
        answer.moreComing = page.moreComing
        for entry in page.entries {
            var change = WireZoneChange()
            if entry.isDeleted {
                change.deleted.name = entry.name
                change.deleted.type = entry.type
            } else {
                change.record = WireRecord(entry, in: page.zone, seenFrom: viewpoint)
                if let selection { change.record.fields = entry.fields.selecting(selection).bytes }
            }
            answer.changes.append(change)
        }
        var envelope = WireServerEnvelope()
        envelope.id = id
        envelope.fetchZoneChanges = answer
        return envelope
    }

    private func page(_ records: [RecordState], hasMore: Bool = false) throws -> ZonePage {
        let key = ZoneKey(database: Examples.viewpoint.database, name: "notes")
        let zone = ZoneState(
            id: ZoneID(11), key: key, createdAt: Timestamp(milliseconds: 0),
            changeNumber: (records.last?.changeNumber ?? 0) + (hasMore ? 1 : 0))
        let read = ZonePageRead(zone: zone, lastRemoval: nil, records: records, hasMore: hasMore)
        let query = ZonePageQuery(
            key: key, after: .init(zone: zone.id, number: 0), recordsMax: 1_000, bytesMax: 4_194_304,
            device: Examples.device, reader: nil, tombstonesPassedMax: 0)
        return try ZonePage.make(of: read, for: query, store: Examples.viewpoint.store).get()
    }

    private func selected(_ selection: FieldSelection?, of page: ZonePage) -> [FieldMap]? {
        selection.map { selection in page.entries.map { $0.fields.selecting(selection) } }
    }

    private func check(_ page: ZonePage, id: UInt64 = 9, selection: FieldSelection? = nil) throws {
        let bytes = ZonePageEncoder.message(
            id, page, selected: selected(selection, of: page), seenFrom: Examples.viewpoint)
        let expected = try reference(id, page, selection)
        #expect(try WireServerEnvelope(reading: bytes) == expected)
        #expect(bytes == expected.encoded)
    }

    @Test func `R-212: a page written by hand is what the generated code writes`() throws {
        try check(page([]))
        try check(page([Examples.record("a")]))
        try check(page([Examples.record("a", number: 1), Examples.record("b", number: 2, isDeleted: true)]))
        try check(page([Examples.record("a", parent: "root")], hasMore: true), id: .max)
        try check(page([Examples.record(String(repeating: "n", count: 255), number: .max - 1)]), id: 128)
    }

    @Test func `R-508: a page that goes with one of the database is what the generated code writes`() throws {
        let key = ZoneKey(database: Examples.viewpoint.database, name: "notes")
        let entry = DatabaseFeedEntry(number: 3, zone: ZoneID(11), key: key, changeNumber: 2, removal: nil)
        let read = DatabaseFeedRead(head: 3, entries: [entry], hasMore: false)
        let database = try DatabasePage.make(
            of: read, viewer: key.database, after: nil, entriesMax: 10, store: Examples.viewpoint.store
        ).get()
        for records in [[], [Examples.record("a", number: 1), Examples.record("b", number: 2, isDeleted: true)]] {
            for selection in [nil, FieldSelection(["title"])] {
                let page = try page(records)
                let bytes = try ZonePageEncoder.message(
                    300, database, then: page, selected: selected(selection, of: page), seenFrom: Examples.viewpoint)
                var expected = WireServerEnvelope()
                expected.id = 300
                expected.fetchDatabaseChanges = try WireFetchDatabaseChangesAnswer(
                    database, seenFrom: Examples.viewpoint)
                expected.fetchDatabaseChanges.then = try reference(300, page, selection).fetchZoneChanges
                #expect(try WireServerEnvelope(reading: bytes) == expected)
                #expect(bytes == expected.encoded)
            }
        }
    }

    @Test func `R-508: a push that brings what changed is what the generated code writes`() throws {
        let key = ZoneKey(database: Examples.viewpoint.database, name: "notes")
        let entry = DatabaseFeedEntry(number: nil, zone: ZoneID(11), key: key, changeNumber: 2, removal: nil)
        let read = DatabaseFeedRead(head: 3, unnumbered: [entry], entries: [], hasMore: false)
        let database = try DatabasePage.make(
            of: read, viewer: key.database, after: FeedPosition(number: 3), entriesMax: 10,
            store: Examples.viewpoint.store
        ).get()
        let page = try page([Examples.record("a", number: 1), Examples.record("b", number: 2, isDeleted: true)])
        let after = (
            database: ChangeToken.database(
                store: Examples.viewpoint.store, viewer: key.database, position: FeedPosition(number: 3)),
            zone: ChangeToken.zone(
                key, viewer: nil, store: Examples.viewpoint.store, position: .init(zone: ZoneID(11), number: 0))
        )
        var push = WirePush()
        push.subscriptionID = "all"
        push.kind = .database
        push.database = .private
        push.zones = [try reference(0, page, nil)].map { _ in
            var zone = WireZoneID()
            zone.name = "notes"
            return zone
        }
        let bytes = try ZonePageEncoder.push(push, database, then: page, after: after, seenFrom: Examples.viewpoint)
        var expected = WireServerEnvelope()
        expected.push = push
        expected.push.changes.databaseToken = after.database.bytes
        expected.push.changes.zone.name = "notes"
        expected.push.changes.zoneToken = after.zone.bytes
        expected.push.changes.answer = try WireFetchDatabaseChangesAnswer(database, seenFrom: Examples.viewpoint)
        expected.push.changes.answer.then = try reference(0, page, nil).fetchZoneChanges
        #expect(try WireServerEnvelope(reading: bytes) == expected)
        #expect(bytes == expected.encoded)
    }

    @Test func `R-215: a page holds the desired keys`() throws {
        let records = [Examples.record("a", number: 1), Examples.record("b", number: 2, isDeleted: true)]
        try check(page(records), selection: FieldSelection(["title"]))
        try check(page(records), selection: FieldSelection([String]()))
    }

    @Test func `R-047, R-202: a page of the public database names who made and changed its records`() throws {
        let (bob, carol) = (UserID(8), UserID(9))
        var viewpoint = Viewpoint(
            access: RecordAccess(scope: .public, user: Examples.user), userRecordName: "_me", database: DatabaseID(3),
            device: Examples.device, store: Examples.viewpoint.store)
        viewpoint.userNames = [bob: "_bob", carol: "_carol"]
        let records = [(Examples.user, bob), (bob, Examples.user), (carol, carol)].enumerated().map { index, users in
            RecordState(
                name: "r\(index)", type: "Note", fields: Examples.fields(), changeNumber: ChangeNumber(index + 1),
                isDeleted: false, parent: index == 0 ? "p" : nil, createdAt: Timestamp(milliseconds: 1),
                createdBy: users.0, createdByDevice: Examples.device, modifiedAt: Timestamp(milliseconds: 2),
                modifiedBy: users.1, batchEnd: ChangeNumber(index + 1))
        }
        let page = try page(records)
        let bytes = ZonePageEncoder.message(3, page, selected: nil, seenFrom: viewpoint)
        let expected = try reference(3, page, nil, seenFrom: viewpoint)
        let changes = expected.fetchZoneChanges.changes
        #expect(changes.map(\.record.createdBy) == ["", "_bob", "_carol"])
        #expect(changes.map(\.record.modifiedBy) == ["_bob", "", "_carol"])
        #expect(try WireServerEnvelope(reading: bytes) == expected)
        #expect(bytes == expected.encoded)
        #expect(page.entries.users(besides: nil) == [Examples.user, bob, carol])
        #expect(page.entries.users(besides: Examples.user) == [bob, carol])
    }

    @Test func `pages of every size and content are what the generated code writes`() throws {
        var random = SeededRandom()
        print("seed \(random.seed)")
        func next(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &random) }
        for _ in 0..<100 {
            var number: ChangeNumber = 0
            let records = (0..<next(20)).map { index -> RecordState in
                number += 1 + Int64(next(1_000_000))
                let isDeleted = next(3) == 0
                return Examples.record(
                    "r\(index)" + String(repeating: "x", count: next(200)), number: number, isDeleted: isDeleted,
                    parent: next(2) == 0 ? nil : "p",
                    fields: isDeleted ? FieldMap() : Examples.fields(String(repeating: "é", count: next(3_000))))
            }
            try check(page(records, hasMore: !records.isEmpty && next(2) == 0), id: UInt64(1 + next(1 << 30)))
        }
    }
}
