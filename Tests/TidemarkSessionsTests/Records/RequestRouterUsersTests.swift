// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import Testing
import TidemarkDomain
import TidemarkFairness
import TidemarkFields
import TidemarkService
import TidemarkTestSupport
import TidemarkWire

extension SessionWorld {
    /// Bob writes in a zone of Alice's, past all sessions: none lets him.
    ///
    /// - Returns: his record name.
    func saveAsBob(_ name: String, in zone: String, counter: UInt64) throws -> String {
        guard case .success(let alice?) = try identity(of: "alice"), case .success(let bob?) = try identity(of: "bob")
        else { throw Unexpected(nil) }
        let save = RecordSave(
            name: name, type: "Note", tag: nil, fields: try FieldMap([Field("text", .string("Bob's"))]),
            parent: .unchanged)
        let device = DeviceID(high: 9, low: 9)
        let request = RecordsRequest(
            id: RequestID(device: device, counter: counter, lowestUnanswered: counter),
            key: ZoneKey(database: alice.privateDatabase, name: zone), saves: [save], deletes: [], policy: .allKeys,
            isAtomic: false, user: bob.user, access: .owner(bob.user))
        let service = server.service
        let outcome = try scheduler.complete { await service.modifyRecords([request], for: .account(2))[0] }
        scheduler.runUntilIdle()
        guard case .saved? = try outcome.get().saves.first else { throw Unexpected(nil) }
        return bob.userRecordName
    }
}

/// Records of a private database that another user made or changed.
@Suite struct RequestRouterUsersTests {
    private let world = SessionWorld()

    /// Alice, who has made two records of three, and Bob's record name. He has made the third, and changed one of hers.
    private func prepared() throws -> (alice: TestClient, bob: String) {
        let alice = try world.enter()
        try alice.makeZone("notes")
        for name in ["own", "changed"] { try alice.save(name, in: "notes") }
        _ = try world.saveAsBob("made", in: "notes", counter: 1)
        return (alice, try world.saveAsBob("changed", in: "notes", counter: 2))
    }

    private func makers(_ records: [WireRecord]) -> [String: [String]] {
        Dictionary(records.map { ($0.name, [$0.createdBy, $0.modifiedBy]) }) { first, _ in first }
    }

    @Test func `R-047: who made or changed a record of a private database is named in fetches, pages and queries`()
        throws
    {
        let (alice, bob) = try prepared()
        #expect(bob.hasPrefix("_"))
        let expected = ["own": ["", ""], "changed": ["", bob], "made": [bob, bob]]

        var part = WireZoneRecordNames()
        part.zone = TestClient.zone("notes")
        part.names = ["own", "changed", "made"]
        var records = WireFetchRecords()
        records.database = .private
        records.zones = [part]
        let fetched = try alice.ask(.fetchRecords(records))
        guard case .fetchRecords(let answer)? = fetched else { throw SessionWorld.Unexpected(fetched) }
        #expect(makers(answer.results.map(\.record)) == expected)

        let page = try alice.ask(.fetchZoneChanges(TestClient.zoneChanges("notes")))
        guard case .fetchZoneChanges(let changes)? = page else { throw SessionWorld.Unexpected(page) }
        #expect(makers(changes.changes.map(\.record)) == expected)

        var feed = WireFetchDatabaseChanges()
        feed.database = .private
        feed.then = TestClient.zoneChanges("notes")
        let pages = try alice.ask(.fetchDatabaseChanges(feed))
        guard case .fetchDatabaseChanges(let both)? = pages else { throw SessionWorld.Unexpected(pages) }
        #expect(makers(both.then.changes.map(\.record)) == expected)

        var query = WireQueryRecords()
        query.database = .private
        query.query.recordType = "Note"
        let found = try alice.ask(.queryRecords(query))
        guard case .queryRecords(let all)? = found else { throw SessionWorld.Unexpected(found) }
        #expect(makers(all.matches.map(\.record)) == expected)
    }

    @Test func `R-047, R-183: a query of a private database finds what another user made`() throws {
        let (alice, bob) = try prepared()
        let cases: [(String, [String])] = [
            (bob, ["made"]), ("", []), ("__defaultOwner__", ["changed", "own"]), ("_none", []),
        ]
        for (user, names) in cases {
            var query = WireQueryRecords()
            query.database = .private
            query.query.recordType = "Note"
            query.query.predicate.compare.key = "creatorUserRecordID"
            query.query.predicate.compare.operator = .equal
            query.query.predicate.compare.value.reference.recordName = user
            let found = try alice.ask(.queryRecords(query))
            guard case .queryRecords(let page)? = found else { throw SessionWorld.Unexpected(found) }
            #expect(page.matches.map(\.record.name).sorted() == names, "\(user)")
        }
    }

    @Test func `R-047, R-111: who made and changed a record is named to a save that meets it`() throws {
        let (alice, bob) = try prepared()
        func save(_ name: String, _ policy: WireSavePolicy) throws -> WireSaveResult {
            var request = try alice.saving(name, in: "notes")
            request.policy = policy
            let answer = try alice.ask(.modifyRecords(request))
            guard case .modifyRecords(let records)? = answer, let save = records.zones.first?.saves.first else {
                throw SessionWorld.Unexpected(answer)
            }
            return save
        }
        let conflict = try save("changed", .ifServerRecordUnchanged).failure
        #expect(conflict.failure.code == .serverRecordChanged && conflict.hasServerRecord)
        #expect(makers([conflict.serverRecord]) == ["changed": ["", bob]])
        let saved = try save("made", .allKeys).saved
        #expect(saved.createdBy == bob && saved.modifiedBy == "")
        #expect(makers([saved.record]) == ["made": [bob, ""]])
    }
}
