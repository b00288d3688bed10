// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain

/// Two users whose devices have the same bits, in one zone.
@Suite struct RecordAccessMarkTests {
    private let life = DeviceID(high: 5, low: 6)

    private static func access(_ scope: DatabaseScope, _ user: UserID?) -> RecordAccess {
        RecordAccess(scope: scope, user: user)
    }

    /// A save of a record by the one device.
    private func request(
        _ name: String, by access: RecordAccess, in key: ZoneKey, clientToken: [UInt8] = []
    ) throws -> RecordsRequest {
        RecordsRequest(
            id: stamp(1, device: phone, life: life), key: key, saves: [save(name)], deletes: [],
            policy: .allKeys, isAtomic: false, user: try #require(access.user), access: access,
            clientToken: clientToken)
    }

    /// What a group of requests to an empty zone writes, and whom it names as those who changed it.
    private func decided(
        _ requests: [RecordsRequest], in zone: TestZone
    ) throws -> (changes: ZoneChanges, movedBy: Set<DeviceID>) {
        let overlay = ZoneOverlay(
            snapshot: ZoneSnapshot(key: zone.key, zone: zone.zone), store: store, limits: Limits())
        for request in requests { #expect(overlay.apply(request, now: 1_000).reasons == [nil]) }
        return (try #require(overlay.changes), overlay.movedBy)
    }

    @Test func `R-355: but for private databases, what stands for a device is its user's alone`() {
        let own = RecordAccess.owner(alice).marking(phone)
        #expect(own == phone, "what is stored in private databases is found as ever")
        let marks = [DatabaseScope.public, .shared].map { scope in
            [alice, bob].map { Self.access(scope, $0).marking(phone) }
        }
        #expect(marks[0] == marks[1] && Set(marks[0] + [own]).count == 3)
        #expect(Self.access(.public, nil).marking(phone) == .nobody)
    }

    @Test func `R-211, R-222, R-248, R-355: what devices with the same bits do is kept apart by their users`() throws {
        let zone = TestZone(name: ZoneName.default)
        let users = [Self.access(.public, alice), Self.access(.public, bob)]
        let requests = try zip(["a", "b"], users).map { name, access in
            try request(name, by: access, in: zone.key, clientToken: Array(name.utf8))
        }
        let (changes, movedBy) = try decided(requests, in: zone)
        let (alices, bobs) = (users[0].marking(phone), users[1].marking(phone))
        #expect(changes.clientTokens == [alices: [0x61], bobs: [0x62]])
        #expect(changes.records.map(\.createdByDevice) == [alices, bobs])
        #expect(movedBy == [users[0].marking(life), users[1].marking(life)])
        #expect(!movedBy.contains(life), "the owner of the zone may have the same bits")
    }

    @Test func `R-211, R-222, R-248: in a private database a device stands for itself`() throws {
        let zone = TestZone()
        let own = try request("a", by: .owner(alice), in: zone.key, clientToken: [7])
        let (changes, movedBy) = try decided([own], in: zone)
        #expect(changes.clientTokens == [phone: [7]] && changes.records.map(\.createdByDevice) == [phone])
        #expect(changes.memories.keys.sorted() == [life] && movedBy == [life])
    }

    @Test func `R-211, R-355: a first fetch tells a device of deletions of its user's records alone`() throws {
        var zone = TestZone(name: ZoneName.default)
        for (name, access) in [("a", Self.access(.public, alice)), ("b", Self.access(.public, bob))] {
            zone.run(try request(name, by: access, in: zone.key))
            let deletion = RecordsRequest(
                id: stamp(2, device: laptop), key: zone.key, saves: [], deletes: [name], policy: .allKeys,
                isAtomic: false, user: try #require(access.user), access: access)
            #expect(zone.run(deletion).reasons == [nil])
        }
        for (user, expected) in [(alice, ["a"]), (bob, ["b"]), (nil, [])] as [(UserID?, [String])] {
            let query = try ZonePageQuery.make(
                key: zone.key, token: [], limit: 0, device: phone, reader: Self.access(.public, user),
                feedsEverywhere: true, store: store, limits: Limits()
            ).get()
            let page = try ZonePage.make(of: zone.read(query), for: query, store: store).get()
            #expect(page.entries.map(\.name) == expected && page.entries.allSatisfy { $0.isDeleted })
        }
        let own = ZonePageQuery.make(
            key: ZoneKey(database: database, name: "Notes"), token: [], limit: 0, device: phone, reader: nil,
            store: store, limits: Limits())
        #expect(try own.get().device == phone)
    }
}
