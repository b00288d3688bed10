// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkWire

@testable import TidemarkTranslation

/// Zones of other owners, as a viewpoint that knows the owners reads and writes them.
@Suite struct ViewpointOwnersTests {
    private static let bob = DatabaseID(21)
    private static let carol = DatabaseID(22)

    private static let viewpoint: Viewpoint = {
        let own = Examples.viewpoint
        var viewpoint = Viewpoint(
            access: RecordAccess(scope: .shared, user: own.user), userRecordName: own.userRecordName,
            database: DatabaseID(4), device: own.device, store: own.store)
        viewpoint.zoneOwners = [Self.bob: "_bob", Self.carol: "_carol"]
        return viewpoint
    }()

    /// Zones of two owners with one name.
    private let zones = ["_bob", "_carol"].map { Examples.zoneID("notes", owner: $0) }
    private let keys = [Self.bob, Self.carol].map { ZoneKey(database: $0, name: "notes") }

    @Test func `R-021, R-225: zones of two owners with one name are two zones`() throws {
        #expect(zones.map(Self.viewpoint.zoneKey(of:)) == keys)
        let named = try keys.map { try WireZoneID($0, seenFrom: Self.viewpoint) }
        #expect(named == zones)
        for owner in ["", "__defaultOwner__", Self.viewpoint.userRecordName, "_dave"] {
            #expect(Self.viewpoint.zoneKey(of: Examples.zoneID("notes", owner: owner)) == nil, "\(owner)")
        }
        // In the private database nothing is another's.
        var own = Examples.viewpoint
        own.zoneOwners = Self.viewpoint.zoneOwners
        #expect(zones.map(own.zoneKey(of:)) == [nil, nil])
        let ownZone = try WireZoneID(ZoneKey(database: own.database, name: "notes"), seenFrom: own)
        #expect(ownZone == Examples.zoneID("notes") && ownZone.owner == "")
    }

    @Test func `R-150, R-225: each part of a request is in its owner's database`() throws {
        var request = Examples.modifyRecords
        for (index, zone) in zones.enumerated() { request.zones[index].zone = zone }
        let parts = try RecordsPart.parts(of: request, by: Self.viewpoint, limits: Examples.limits)
        let requests = parts.compactMap { part -> RecordsRequest? in
            if case .request(let request) = part { request } else { nil }
        }
        #expect(requests.map(\.key) == keys)
        #expect(requests.allSatisfy { $0.access.scope == .shared && $0.memoryLife != $0.id.life })
    }

    @Test func `R-173, R-182: a query is of its zone's database, and references do not lead out of that`() throws {
        var request = WireQueryRecords()
        request.query.recordType = "Note"
        request.query.zone = zones[0]
        for (zone, place) in zip(zones, [.named("notes"), .elsewhere] as [QueryReference.Zone]) {
            request.query.predicate.compare.key = "owner"
            request.query.predicate.compare.operator = .equal
            request.query.predicate.compare.value.reference.recordName = "x"
            request.query.predicate.compare.value.reference.zone = zone
            let search = try RecordsSearch(request, by: Self.viewpoint, limits: Examples.limits)
            #expect(search.database == Self.bob && search.query.zoneName == "notes")
            let value = QueryValue.reference(QueryReference(recordName: "x", zone: place))
            #expect(search.query.predicate == .compare(.field("owner"), .equal, value))
        }
    }

    @Test func `R-225, R-254: answers and pushes name the owners of zones`() throws {
        let entries = zip(keys, [nil, .deleted] as [ZoneRemovalReason?]).enumerated().map { index, entry in
            DatabaseFeedEntry(
                number: ChangeNumber(index + 1), zone: ZoneID(Int64(index + 1)), key: entry.0, changeNumber: 1,
                removal: entry.1)
        }
        let page = try DatabasePage.make(
            of: DatabaseFeedRead(head: 2, entries: entries, hasMore: false), viewer: Self.viewpoint.database,
            after: nil, tellsEnds: true, entriesMax: 10, store: Self.viewpoint.store
        ).get()
        let feed = try WireFetchDatabaseChangesAnswer(page, seenFrom: Self.viewpoint)
        #expect(feed.changed == [zones[0]] && feed.ended.map(\.zone) == [zones[1]])

        let subscription = Subscription(
            id: "all", scope: .shared, kind: .database, recordType: nil, notificationInfo: [])
        #expect(WirePush(subscription, zones: keys, seenFrom: Self.viewpoint).zones == zones)

        let found = keys.map { key in
            Result<ZoneState, FailureReason>.success(
                ZoneState(id: ZoneID(1), key: key, createdAt: Timestamp(milliseconds: 0)))
        }
        let list = try WireFetchZonesAnswer(found, seenFrom: Self.viewpoint)
        #expect(list.zones.map(\.zone.id) == zones)
    }

    @Test func `R-225: a zone of an unknown owner is the server's error, never a zone of the caller`() throws {
        var viewpoint = Self.viewpoint
        viewpoint.zoneOwners = [Self.bob: "_bob"]
        let fault = #expect(throws: Refusal.self) { try WireZoneID(keys[1], seenFrom: viewpoint) }
        #expect(fault?.code == .serverFault)

        let entry = DatabaseFeedEntry(number: 1, zone: ZoneID(1), key: keys[1], changeNumber: 1, removal: nil)
        let page = try DatabasePage.make(
            of: DatabaseFeedRead(head: 1, entries: [entry], hasMore: false), viewer: viewpoint.database, after: nil,
            tellsEnds: true, entriesMax: 10, store: viewpoint.store
        ).get()
        #expect(throws: Refusal.self) { try WireFetchDatabaseChangesAnswer(page, seenFrom: viewpoint) }
        let zone = ZoneState(id: ZoneID(1), key: keys[1], createdAt: Timestamp(milliseconds: 0))
        #expect(throws: Refusal.self) { try WireFetchZonesAnswer([.success(zone)], seenFrom: viewpoint) }

        // A push that names no zone makes the device ask.
        let subscription = Subscription(
            id: "all", scope: .shared, kind: .database, recordType: nil, notificationInfo: [])
        #expect(WirePush(subscription, zones: keys, seenFrom: viewpoint).zones == [])
    }
}
