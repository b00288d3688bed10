// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkFairness
import TidemarkFields
import TidemarkScheduling
import TidemarkService
import TidemarkTestKit
import TidemarkTestSupport

/// Requests whose zones are in the databases of several owners.
@Suite struct ModifyRecordsDatabasesTests {
    private let device = DeviceID(high: 2, low: 2)

    /// A zone of Bob's, in the container of the fixture's user.
    private func bobsZone(_ fixture: ServiceFixture, _ service: CloudService) async throws -> ZoneKey {
        let hash = [UInt8](repeating: 8, count: 32)
        fixture.database.issueCredential(hash: hash, account: "bob")
        let identity = try #require(
            try await service.authenticate(
                credentialHash: hash, container: "iCloud.test", environment: .development, createsContainer: true,
                device: DeviceID(high: 0, low: 2), deviceName: "test"
            ).get())
        let creation = ZonesRequest(id: RequestID(device, 1), saves: ["notes"], deletes: [])
        _ = try await service.modifyZones(
            in: identity.privateDatabase, creation, for: .account(identity.account.rawValue)
        ).get()
        return ZoneKey(database: identity.privateDatabase, name: "notes")
    }

    @Test func `R-151, R-157: each part of a request is written to the database of its zone, once`() throws {
        let fixture = try ServiceFixture()
        let service = fixture.server()
        try fixture.scheduler.simulate {
            let key = try await bobsZone(fixture, service)
            let id = RequestID(device, 2)
            let mine = try fixture.saving(["a"], text: "mine", id: id)
            let saves = try fixture.saving(["a", "b"], text: "his", id: id).saves
            let his = RecordsRequest(
                id: id, key: key, saves: saves, deletes: [], policy: .allKeys, isAtomic: false, user: mine.user,
                access: .owner(mine.user))
            let outcomes = await service.modifyRecords([mine, his], for: .account(1))
            #expect(outcomes.map(\.numbers) == [[1], [1, 2]])
            #expect(await fixture.server().modifyRecords([mine, his], for: .account(1)) == outcomes)
            #expect(try await fixture.records().map(\.fields) == mine.saves.map(\.fields))
            let stored = try await service.records(named: ["a", "b"], in: key, by: his.access).get().records
            #expect(try stored.map { try $0.get().fields } == saves.map(\.fields))
        }
    }

    @Test func `R-029, R-068: zones and their keys are looked for in the database of each`() throws {
        let fixture = try ServiceFixture(zones: ["notes", "lists"])
        let service = fixture.server()
        try fixture.scheduler.simulate {
            let key = try await bobsZone(fixture, service)
            let keys = [fixture.key("lists"), key, ZoneKey(database: key.database, name: "lists"), fixture.key()]
            let zones = try await service.zones(keys).get()
            #expect(
                zones.map { zone in zone.map(\.key) } == [
                    .success(keys[0]), .success(keys[1]), .failure(.zoneNotFound), .success(keys[3]),
                ])
            let zoneKey = WrappedZoneKey(
                id: Array(repeating: 3, count: 16), accountKeyID: Array(repeating: 1, count: 16),
                wrapped: Array(repeating: 4, count: 60))
            _ = try await service.saveZoneKey(zoneKey, in: key, after: nil).get()
            let found = try await service.keys(of: fixture.identity.user, zones: keys).get().zones
            #expect(found == [.success([]), .success([zoneKey]), .failure(.zoneNotFound), .success([])])
        }
    }
}
