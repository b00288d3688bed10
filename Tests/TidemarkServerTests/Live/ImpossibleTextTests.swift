// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import Testing
import TidemarkBytes
import TidemarkDomain
import TidemarkFields
import TidemarkTestSupport
import TidemarkWebSocket
import TidemarkWire

/// PostgreSQL's text cannot hold U+0000. No request may get that far with it: the statement would fail, and with it what
/// is written together with it.
@Suite(.serialized, .timeLimit(.minutes(10))) struct ImpossibleTextTests {
    /// Each string of a request is this, so that tests find all of them in the request's bytes.
    private static let mark = "MARKR"
    private static let impossible: [[UInt8]] = [
        Array("x\0y\u{1}z".utf8), Array("\0\0\0\0\0".utf8), Array("\u{7F}\n\r\t\0".utf8),
    ]

    private static var zone: WireZoneID { TestClient.zone(mark) }

    private static func reference(_ hasZone: Bool = true) -> WireQueryValue {
        var value = WireQueryValue()
        value.reference.recordName = mark
        if hasZone { value.reference.zone = zone }
        return value
    }

    private static func compare(_ key: String, _ value: WireQueryValue) -> WirePredicate {
        var predicate = WirePredicate()
        predicate.compare.key = key
        predicate.compare.operator = .equal
        predicate.compare.value = value
        return predicate
    }

    private static func query(_ scope: WireDatabaseScope, _ predicate: WirePredicate) -> WireQueryRecords {
        var sort = WireSort()
        sort.key = mark
        var request = WireQueryRecords()
        request.database = scope
        request.query.recordType = mark
        if scope == .private { request.query.zone = zone }
        request.query.predicate = predicate
        request.query.sorts = [sort]
        request.desiredKeys.keys = [mark]
        return request
    }

    private static func queries() -> [WireQueryRecords] {
        var text = WireQueryValue()
        text.string = mark
        var values = WirePredicate()
        values.isIn.key = "recordID"
        values.isIn.values = [reference(), reference(false)]
        var element = WirePredicate()
        element.contains.key = "list"
        element.contains.value = reference()
        var start = WirePredicate()
        start.beginsWith.key = mark
        start.beginsWith.prefix = mark
        var words = WirePredicate()
        words.search = mark
        var nested = WirePredicate()
        var not = WirePredicate()
        not.not = compare("link", reference())
        nested.and.parts = [not, compare("recordID", reference(false))]
        let predicates = [
            compare("recordID", reference()), compare("parent", reference()), compare("link", reference()),
            compare("creatorUserRecordID", reference(false)), compare(mark, text), values, element, start, words,
            nested,
        ]
        return [.private, .public].flatMap { scope in predicates.map { query(scope, $0) } }
    }

    private static func save() throws -> WireZoneModifications {
        var save = WireRecordSave()
        save.name = mark
        save.type = mark
        save.parent = mark
        save.parentChange = .parentSet
        let link = FieldReference(recordName: mark, action: .deleteSelf)
        save.fields = try FieldMap([
            Field(mark, .string(mark)), Field("link", .reference(link)), Field("list", .references([link])),
            Field("strings", .strings([mark])),
        ]).bytes
        var part = WireZoneModifications()
        part.zone = zone
        part.saves = [save]
        return part
    }

    /// Every request that has strings, without its stamp.
    private static func requests() throws -> [WireClientEnvelope.OneOfRequest] {
        var keys = WireFetchKeys()
        keys.database = .private
        keys.zones = [zone]
        var key = WireSaveZoneKey()
        key.database = .private
        key.zone = zone
        key.key.id = [UInt8](repeating: 1, count: 16)
        key.key.accountKeyID = [UInt8](repeating: 2, count: 16)
        key.key.wrapped = [UInt8](repeating: 3, count: 60)
        var grants = WireGrantKeys()
        grants.zone = zone
        grants.grants = [WireKeyGrant()]
        grants.grants[0].user = mark
        var zones = WireFetchZones()
        zones.database = .private
        zones.zones = [zone]
        var names = WireZoneRecordNames()
        names.zone = zone
        names.names = [mark]
        var records = WireFetchRecords()
        records.database = .private
        records.zones = [names]
        records.desiredKeys.keys = [mark]
        var changes = TestClient.zoneChanges(mark)
        changes.desiredKeys.keys = [mark]
        var feed = WireFetchDatabaseChanges()
        feed.database = .private
        feed.then = changes
        feed.subscriptionID = mark
        var subscription = TestClient.subscription(mark)
        subscription.kind = .recordZone
        subscription.zone = zone
        subscription.recordType = mark
        subscription.notificationInfo.alertBody = mark
        var subscriptions = WireModifySubscriptions()
        subscriptions.database = .private
        subscriptions.saves = [subscription]
        subscriptions.deletes = [mark]
        var known = WireFetchSubscriptions()
        known.database = .private
        known.ids = [mark]
        var inventory = WireVerifyZone()
        inventory.database = .private
        inventory.zone = TestClient.zone("notes")
        inventory.lists = true
        inventory.after = mark
        var upload = WirePrepareAssetUpload()
        upload.database = .private
        upload.zone = zone
        upload.sha256 = [UInt8](repeating: 1, count: 32)
        var download = WireFetchAssetChunk()
        download.database = .private
        download.zone = zone
        download.record = mark
        download.sha256 = upload.sha256
        var metadata = WireFetchShareMetadata()
        metadata.links = [mark]
        var acceptance = WireAcceptShares()
        acceptance.links = [mark]
        var asking = WireRequestShareAccess()
        asking.links = [mark]
        var persons = WireFetchShareParticipants()
        persons.lookups = [WireParticipantLookup(), WireParticipantLookup(), WireParticipantLookup()]
        persons.lookups[0].user = mark
        persons.lookups[1].email = "\(mark)@\(mark)"
        persons.lookups[2].phone = mark
        var presence = WireJoinPresence()
        (presence.database, presence.zone, presence.share) = (.private, zone, mark)
        return [
            .joinPresence(presence), .fetchShareMetadata(metadata), .acceptShares(acceptance),
            .fetchShareParticipants(persons),
            .requestShareAccess(asking),
            .fetchKeys(keys), .saveZoneKey(key), .grantKeys(grants), .fetchZones(zones), .fetchRecords(records),
            .fetchZoneChanges(changes), .fetchDatabaseChanges(feed), .modifySubscriptions(subscriptions),
            .fetchSubscriptions(known), .verifyZone(inventory), .prepareAssetUpload(upload), .fetchAssetChunk(download),
        ] + queries().map { .queryRecords($0) }
    }

    /// The requests that need a stamp.
    private static func writes(_ client: LiveClient) throws -> [WireClientEnvelope.OneOfRequest] {
        var zones = WireModifyZones()
        zones.database = .private
        zones.stamp = client.stamp()
        zones.saves = [TestClient.zone(mark)]
        var ends = WireModifyZones()
        ends.database = .private
        ends.stamp = client.stamp()
        ends.deletes = [TestClient.zone(mark)]
        var saves = client.request(.private, .allKeys)
        saves.zones = [try save()]
        var deletes = client.request(.private, .allKeys)
        deletes.zones = [WireZoneModifications()]
        deletes.zones[0].zone = zone
        deletes.zones[0].deletes = [mark]
        return [.modifyZones(zones), .modifyZones(ends), .modifyRecords(saves), .modifyRecords(deletes)]
    }

    /// The message with the bytes in place of each mark in turn.
    private func spoilt(_ message: [UInt8], _ bytes: [UInt8]) -> [[UInt8]] {
        let mark = Array(Self.mark.utf8)
        return message.indices.dropLast(mark.count - 1).compactMap { start in
            guard message[start..<start + mark.count].elementsEqual(mark) else { return nil }
            var message = message
            message.replaceSubrange(start..<start + mark.count, with: bytes)
            return message
        }
    }

    private func expectNoFault(_ answer: WireServerEnvelope, _ what: String) {
        #expect(answer.answer != nil, "\(what)")
        #expect(!"\(answer)".contains("internalError"), "\(what): \(answer)")
    }

    @Test func `R-761, I-6: no string of any request reaches the store with what it cannot hold`() async throws {
        try await withLiveWorld { world in
            try await world.withServer { server in
                let client = try await world.enter(server: server)
                try await client.makeZone(Self.mark)
                // So that the type and its fields are known, and queries get as far as PostgreSQL.
                var first = client.request(.private, .allKeys)
                first.zones = [try Self.save()]
                first.zones[0].saves[0].parentChange = .parentUnchanged
                first.zones[0].saves[0].parent = ""
                #expect(
                    !(try await client.ask(.modifyRecords(first))).modifyRecords.zones[0].saves[0].saved.tag.isEmpty)
                var number: UInt64 = 10_000
                func send(_ request: WireClientEnvelope.OneOfRequest) async throws {
                    let occurrences = spoilt(TestClient.envelope(request, id: number), Self.impossible[0]).count
                    for bytes in Self.impossible {
                        for index in 0..<occurrences {
                            number += 1
                            client.send(.binary, spoilt(TestClient.envelope(request, id: number), bytes)[index])
                            expectNoFault(try await client.answer(to: number), "\(index) of \(request) as \(bytes)")
                        }
                    }
                }
                for request in try Self.requests() {
                    expectNoFault(try await client.ask(request), "\(request)")
                    try await send(request)
                }
                // Each with a stamp of its own: else all but the first would be repeats.
                for kind in 0..<4 {
                    let occurrences = spoilt(
                        TestClient.envelope(try Self.writes(client)[kind], id: number), Self.impossible[0]
                    ).count
                    for bytes in Self.impossible {
                        for index in 0..<occurrences {
                            number += 1
                            let request = try Self.writes(client)[kind]
                            client.send(.binary, spoilt(TestClient.envelope(request, id: number), bytes)[index])
                            expectNoFault(try await client.answer(to: number), "\(index) of \(request) as \(bytes)")
                        }
                    }
                }
                // Every string of every request, three times.
                #expect(number > 10_250)
                expectNoFault(try await client.ask(.fetchZones(WireFetchZones())), "afterwards")
                try await client.save(["afterwards"], in: Self.mark)
            }
        }
    }
}
