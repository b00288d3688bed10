// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import Testing
import TidemarkDomain
import TidemarkFields
import TidemarkTestKit
import TidemarkTestSupport
import TidemarkWire

/// The public database as sessions serve it.
@Suite struct SessionPublicDatabaseTests {
    private func saving(
        _ client: TestClient, _ names: [String], text: String = "text", zone: String = "_defaultZone",
        atomic: Bool = false
    ) throws -> WireModifyRecords {
        var request = try client.saving("x", in: zone, text: text)
        request.database = .public
        request.atomic = atomic
        let save = request.zones[0].saves[0]
        request.zones[0].saves = names.map { name in
            var save = save
            save.name = name
            return save
        }
        return request
    }

    private func fetch(_ client: TestClient, _ names: [String], zone: String = "_defaultZone") throws
        -> [WireRecordResult]
    {
        var part = WireZoneRecordNames()
        part.zone = TestClient.zone(zone)
        part.names = names
        var request = WireFetchRecords()
        request.database = .public
        request.zones = [part]
        guard case .fetchRecords(let answer)? = try client.ask(.fetchRecords(request)) else { return [] }
        return answer.results
    }

    private func saves(_ answer: WireServerEnvelope.OneOfAnswer?) -> [WireSaveResult] {
        guard case .modifyRecords(let answer)? = answer else { return [] }
        return answer.zones.flatMap(\.saves)
    }

    @Test func `R-006, R-007, R-047: users save, everybody reads, and sees who made what`() throws {
        let world = SessionWorld()
        let alice = try world.enter("alice", device: 1)
        let bob = try world.enter("bob", device: 2)
        let nobody = try world.enter("", device: 3)
        #expect(saves(try alice.ask(.modifyRecords(saving(alice, ["a"])))).first?.saved.createdBy == "")
        let refused = saves(try bob.ask(.modifyRecords(saving(bob, ["a", "b"], text: "mine", atomic: true))))
        #expect(refused.map(\.failure.failure.code) == [.permissionFailure, .unspecified])
        #expect(refused.first?.failure.failure.message.hasPrefix("WRITE operation not permitted") == true)
        #expect(refused.first?.failure.hasServerRecord == false)

        let seenByNobody = try fetch(nobody, ["a", "b", "c"])
        #expect(seenByNobody.map(\.failure.code) == [.unspecified, .unspecified, .unknownItem])
        let makers = seenByNobody.prefix(2).map(\.record.createdBy)
        #expect(makers.allSatisfy { $0.hasPrefix("_") } && Set(makers).count == 2)
        #expect(try fetch(alice, ["a", "b"]).map(\.record.createdBy) == ["", makers[1]])
        #expect(try fetch(bob, ["a", "b"]).map(\.record.modifiedBy) == [makers[0], ""])

        #expect(try nobody.ask(.modifyRecords(saving(nobody, ["n"])))?.code == .notAuthenticated)
        var deleting = try saving(bob, [])
        deleting.zones[0].deletes = ["a", "b"]
        guard case .modifyRecords(let deleted)? = try bob.ask(.modifyRecords(deleting)) else {
            return #expect(Bool(false))
        }
        #expect(deleted.zones[0].deletes.map(\.failure.code) == [.permissionFailure, .unspecified])
        #expect(try fetch(nobody, ["a", "b"]).map(\.failure.code) == [.unspecified, .unknownItem])
    }

    @Test func `R-022, R-023, R-029: the public database has its default zone, and no other`() throws {
        let world = SessionWorld()
        let client = try world.enter()
        let nobody = try world.enter("")
        var all = WireFetchZones()
        all.database = .public
        for reader in [client, nobody] {
            guard case .fetchZones(let zones)? = try reader.ask(.fetchZones(all)) else { return #expect(Bool(false)) }
            #expect(zones.zones.map(\.zone.id.name) == ["_defaultZone"])
            #expect(zones.zones.map(\.zone.capabilities) == [0])
        }
        try client.makeZone("notes")
        let results = saves(try client.ask(.modifyRecords(saving(client, ["a"], zone: "notes"))))
        #expect(results.map(\.failure.failure.code) == [.zoneNotFound])
        #expect(try fetch(nobody, ["a"], zone: "notes").map(\.failure.code) == [.zoneNotFound])
    }

    @Test func `R-202: the public database has no feeds`() throws {
        let world = SessionWorld()
        for account in ["alice", ""] {
            let client = try world.enter(account)
            var zone = TestClient.zoneChanges("_defaultZone")
            zone.database = .public
            #expect(try client.ask(.fetchZoneChanges(zone))?.code == .invalidArguments)
            var database = WireFetchDatabaseChanges()
            database.database = .public
            #expect(try client.ask(.fetchDatabaseChanges(database))?.code == .badDatabase)
        }
    }

    @Test func `R-202, I-5: with feeds everywhere the public database has one, of what the caller may read`() throws {
        let world = SessionWorld()
        let alice = try world.enter("alice", device: 1)
        let nobody = try world.enter("", device: 3)
        _ = try alice.ask(.modifyRecords(saving(alice, ["a", "b"])))
        let container = ContainerKey(identifier: SessionWorld.container, environment: .development)
        world.database.setFeedsEverywhere(true, in: container)
        for client in [alice, nobody] {
            var database = WireFetchDatabaseChanges()
            database.database = .public
            guard case .fetchDatabaseChanges(let feed)? = try client.ask(.fetchDatabaseChanges(database)) else {
                return #expect(Bool(false))
            }
            #expect(feed.changed.map(\.name) == ["_defaultZone"] && feed.ended.isEmpty && !feed.moreComing)
            var zone = TestClient.zoneChanges("_defaultZone")
            zone.database = .public
            guard case .fetchZoneChanges(let page)? = try client.ask(.fetchZoneChanges(zone)) else {
                return #expect(Bool(false))
            }
            #expect(page.changes.map(\.record.name) == ["a", "b"])
            // by their names, but for the caller.
            #expect(page.changes.allSatisfy { $0.record.createdBy.isEmpty == (client === alice) })
            var all = WireFetchZones()
            all.database = .public
            guard case .fetchZones(let zones)? = try client.ask(.fetchZones(all)) else { return #expect(Bool(false)) }
            #expect(zones.zones.map(\.zone.capabilities) == [1])
        }
    }

    @Test func `R-211, R-222, R-355: accounts that share a device have no marks of each other in the public database`()
        throws
    {
        let world = SessionWorld()
        let users = [try world.enter("alice", device: 1), try world.enter("bob", device: 1)]
        let nobody = try world.enter("", device: 1)
        let container = ContainerKey(identifier: SessionWorld.container, environment: .development)
        #expect(world.database.setFeedsEverywhere(true, in: container))
        for (user, name) in zip(users, ["a", "b"]) {
            var saving = try saving(user, [name, name + "-gone"])
            saving.clientChangeToken = [UInt8](name.utf8)
            #expect(try saves(user.ask(.modifyRecords(saving))).count == 2)
            var deleting = try self.saving(user, [])
            deleting.zones[0].deletes = [name + "-gone"]
            _ = try user.ask(.modifyRecords(deleting))
        }
        for (reader, name) in zip(users + [nobody], ["a", "b", ""]) {
            var zone = TestClient.zoneChanges("_defaultZone")
            zone.database = .public
            guard case .fetchZoneChanges(let page)? = try reader.ask(.fetchZoneChanges(zone)) else {
                return #expect(Bool(false))
            }
            #expect([UInt8](page.clientChangeToken) == Array(name.utf8))
            // Each hears of the deletion of what they made by this device, and of no other.
            #expect(page.changes.map(\.record.name).filter { !$0.isEmpty } == ["a", "b"])
            #expect(page.changes.map(\.deleted.name).filter { !$0.isEmpty } == (name.isEmpty ? [] : [name + "-gone"]))
        }
    }

    @Test func `R-001, R-012, R-014: a container has one public database in each environment`() throws {
        let world = SessionWorld()
        let early = try world.enter("")
        #expect(try fetchCode(early) == .badContainer)
        let alice = try world.enter("alice", device: 1)
        #expect(!saves(try alice.ask(.modifyRecords(saving(alice, ["a"])))).isEmpty)
        // It is there now, also for who came before.
        #expect(try fetch(early, ["a"]).map(\.record.name) == ["a"])
        // clients make none in production.
        world.database.createContainer(ContainerKey(identifier: SessionWorld.container, environment: .production))
        for (container, environment, names) in [
            (SessionWorld.container, WireEnvironment.production, [""]), ("iCloud.other", .development, [""]),
            (SessionWorld.container, .development, ["a"]),
        ] {
            let client = world.connect()
            var hello = SessionWorld.hello("bob", device: 9)
            hello.container = container
            hello.environment = environment
            guard case .hello? = try client.ask(.hello(hello)) else { return #expect(Bool(false)) }
            #expect(try fetch(client, ["a"]).map(\.record.name) == names)
        }
    }

    private func fetchCode(_ client: TestClient) throws -> WireErrorCode? {
        var all = WireFetchZones()
        all.database = .public
        return try client.ask(.fetchZones(all))?.code
    }
}
