// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkTranslation
import TidemarkWire

@Suite struct ZoneTranslationTests {
    private func request(saves: [WireZoneID], deletes: [WireZoneID] = []) throws(Refusal) -> ZonesRequest {
        var request = WireModifyZones()
        request.database = .private
        request.stamp = Examples.stamp()
        request.saves = saves
        request.deletes = deletes
        return try ZonesRequest(request, by: Examples.viewpoint, limits: Examples.limits)
    }

    @Test func `R-033: each zone has its own result`() throws {
        let request = try request(
            saves: [Examples.zoneID("a"), Examples.zoneID("_b")], deletes: [Examples.zoneID("c")])
        #expect(request.saves == ["a", "_b"])
        let answer = WireModifyZonesAnswer(
            ZonesOutcome(saves: [.done, .failed(.zoneNameInvalid)], deletes: [.done]), to: request,
            seenFrom: Examples.viewpoint, within: Examples.limits)
        #expect(answer.saves[0].zone.id.name == "a")
        #expect(answer.saves[1].failure.code == .invalidArguments)
        #expect(answer.deletes[0].result == .done(WireDone()))
    }

    @Test func `R-009: nobody creates or deletes another's zones`() {
        let foreign = Examples.zoneID("a", owner: "_somebody")
        #expect(throws: Refusal(.notPermitted, "Only a zone's owner creates and deletes it.")) {
            try request(saves: [foreign])
        }
        #expect(throws: Refusal.self) { try request(saves: [], deletes: [foreign]) }
    }

    private func viewpoint(_ scope: DatabaseScope) -> Viewpoint {
        let own = Examples.viewpoint
        return Viewpoint(
            access: RecordAccess(scope: scope, user: own.user), userRecordName: own.userRecordName,
            database: own.database, device: own.device, store: own.store)
    }

    @Test func `R-009, R-021, R-225: what a client calls a zone is a zone of its database, or none`() throws {
        let own = Examples.viewpoint
        let zones = ["", "__defaultOwner__", own.userRecordName, "_somebody"].map { Examples.zoneID("n", owner: $0) }
        let key = ZoneKey(database: own.database, name: "n")
        for (scope, found) in [(.private, key), (.public, key), (.shared, nil)] as [(DatabaseScope, ZoneKey?)] {
            let keys = try ZoneNames.read(zones, by: viewpoint(scope), limits: Examples.limits)
            #expect(keys == [found, found, found, nil], "\(scope)")
        }
        #expect(try own.requiredZoneKey(of: zones[0]) == key)
        #expect(throws: Refusal(.zoneNotFound)) { try own.requiredZoneKey(of: zones[3]) }
    }

    @Test func `R-058: the caller's user record is in the default zone of their own database`() {
        let own = Examples.viewpoint
        let other = DatabaseID(own.database.rawValue + 1)
        #expect(own.userRecordName(in: ZoneKey(database: own.database, name: ZoneName.default)) == own.userRecordName)
        #expect(own.userRecordName(in: ZoneKey(database: own.database, name: "n")) == nil)
        #expect(own.userRecordName(in: ZoneKey(database: other, name: ZoneName.default)) == nil)
    }

    private func zone(_ name: String, _ scope: ZoneEncryptionScope = .perRecord) -> ZoneState {
        var zone = ZoneState(
            id: ZoneID(1), key: ZoneKey(database: DatabaseID(3), name: name), createdAt: Timestamp(milliseconds: 0))
        zone.encryptionScope = scope
        return zone
    }

    @Test func `R-035: what a request says of encryption, and what an answer does`() throws {
        var request = WireModifyZones()
        request.stamp = Examples.stamp()
        request.saves = ["a", "b", "c", "d"].map { Examples.zoneID($0) }
        request.encryptionScopes = [.perZone, .perRecord, .unspecified]
        let zones = try ZonesRequest(request, by: Examples.viewpoint, limits: Examples.limits)
        #expect(zones.encryptionScopes == ["a": .perZone, "b": .perRecord])
        let outcome = ZonesOutcome(saves: [.donePerZone, .done, .done, .failed(.zoneScopeFixed)], deletes: [])
        let answer = WireModifyZonesAnswer(
            outcome, to: zones, seenFrom: Examples.viewpoint, within: Examples.limits)
        #expect(answer.saves.map(\.zone.encryptionScope) == [.perZone, .perRecord, .perRecord, .unspecified])
        // A zone that is encrypted as a whole is shared only as a whole.
        #expect(answer.saves.map(\.zone.capabilities) == [11, 15, 15, 0])
        #expect(answer.saves[3].failure.code == .serverRejectedRequest)
        let found = try WireFetchZonesAnswer([.success(zone("a", .perZone))], seenFrom: Examples.viewpoint)
        #expect(found.zones[0].zone.encryptionScope == .perZone)
        request.encryptionScopes = [.unrecognized(9)]
        #expect(throws: Refusal.self) {
            try ZonesRequest(request, by: Examples.viewpoint, limits: Examples.limits)
        }
    }

    @Test func `R-155: too many zones in a request`() {
        let zones = (0..<401).map { Examples.zoneID("z\($0)") }
        #expect(throws: Refusal.self) { try request(saves: zones) }
        #expect(throws: Refusal.self) { try ZoneNames.read(zones, by: Examples.viewpoint, limits: Examples.limits) }
    }

    @Test func `R-025: the default zone has no capabilities, custom zones all four`() throws {
        let answer = try WireFetchZonesAnswer(
            [.success(zone("_defaultZone")), .success(zone("notes")), .failure(.zoneNotFound)],
            seenFrom: Examples.viewpoint)
        #expect(answer.zones.map(\.zone.capabilities) == [0, 15, 0])
        let published = try WireFetchZonesAnswer([.success(zone("_defaultZone"))], seenFrom: viewpoint(.public))
        #expect(published.zones[0].zone.capabilities == 0)
        #expect(answer.zones[2].failure.code == .zoneNotFound)
    }
}
