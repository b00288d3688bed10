// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain

@Suite struct ZonesRulesTests {
    let limits = Limits()

    func request(_ saves: [String], _ deletes: [String] = [], _ id: RequestID = stamp(1)) -> ZonesRequest {
        ZonesRequest(id: id, saves: saves, deletes: deletes)
    }

    func zone(_ name: String, id: Int64) -> ZoneState {
        ZoneState(id: ZoneID(id), key: ZoneKey(database: database, name: name), createdAt: 0)
    }

    func items(_ reasons: [FailureReason?]) -> [ZoneItemOutcome] {
        reasons.map { reason in reason.map(ZoneItemOutcome.failed) ?? .done }
    }

    @Test func `R-027: saving a zone that exists succeeds and changes nothing`() throws {
        let snapshot = ZonesSnapshot(zones: ["A": zone("A", id: 1)], zoneCount: 1)
        let (outcome, changes) = request(["A", "B"]).decide(on: snapshot, limits: limits)
        #expect(try outcome.get() == ZonesOutcome(saves: items([nil, nil]), deletes: []))
        #expect(changes?.created == ["B"] && changes?.removed == [])
    }

    @Test func `R-031: deleting a zone that does not exist succeeds`() throws {
        let snapshot = ZonesSnapshot(zones: ["A": zone("A", id: 5), "B": zone("B", id: 3)], zoneCount: 2)
        let (outcome, changes) = request([], ["A", "B", "none"]).decide(on: snapshot, limits: limits)
        #expect(try outcome.get() == ZonesOutcome(saves: [], deletes: items([nil, nil, nil])))
        #expect(changes?.removed == [ZoneID(3), ZoneID(5)] && changes?.removalReason == .deleted)
    }

    @Test func `R-022, R-032: the default zone is always there and cannot be deleted`() throws {
        let name = ZoneName.default
        let asked = request([name], [])
        #expect(asked.namesToRead(within: Limits()).isEmpty)
        let saved = asked.decide(on: ZonesSnapshot(), limits: limits)
        #expect(try saved.outcome.get().saves == [.done])
        #expect(saved.changes?.created == [])
        let snapshot = ZonesSnapshot(zones: [name: zone(name, id: 1)], zoneCount: 1)
        let deleted = request([], [name]).decide(on: snapshot, limits: limits)
        #expect(try deleted.outcome.get().deletes == [.failed(.zoneIsDefault)])
        #expect(deleted.changes?.removed == [])
    }

    @Test func `R-035: the encryption scope is chosen when a zone is created, and never changed`() throws {
        var perZone = zone("Z", id: 2)
        perZone.encryptionScope = .perZone
        let snapshot = ZonesSnapshot(zones: ["R": zone("R", id: 1), "Z": perZone], zoneCount: 2)
        func decide(_ scope: ZoneEncryptionScope?) throws -> ([ZoneItemOutcome], ZonesChanges?) {
            let names = ["R", "Z", "new", ZoneName.default]
            let scopes = Dictionary(names.compactMap { name in scope.map { (name, $0) } }) { first, _ in first }
            let asked = ZonesRequest(id: stamp(1), saves: names, deletes: [], encryptionScopes: scopes)
            let (outcome, changes) = asked.decide(on: snapshot, limits: limits)
            // R-157: what is remembered is the same.
            #expect(try ZonesOutcome(decoding: outcome.get().encoded) == outcome.get())
            return (try outcome.get().saves, changes)
        }
        let fixed = ZoneItemOutcome.failed(.zoneScopeFixed)
        // R-027: nothing is said, so that nothing is changed.
        #expect(try decide(nil).0 == [.done, .donePerZone, .done, .done])
        #expect(try decide(.perRecord).0 == [.done, fixed, .done, .done])
        #expect(try decide(.perZone).0 == [fixed, .donePerZone, .donePerZone, fixed])
        #expect(try decide(.perZone).1?.createdPerZone == ["new"])
        #expect(try decide(.perRecord).1?.createdPerZone == [])
    }

    @Test func `R-020, R-033: a bad name fails its zone alone and is not looked up`() throws {
        let asked = request(["ok", "_x", "ü"], ["", "fine"])
        #expect(asked.namesToRead(within: Limits()) == ["fine", "ok"])
        let (outcome, changes) = asked.decide(on: ZonesSnapshot(), limits: limits)
        #expect(
            try outcome.get()
                == ZonesOutcome(
                    saves: items([nil, .zoneNameInvalid, .zoneNameInvalid]), deletes: items([.zoneNameInvalid, nil])))
        #expect(changes?.created == ["ok"])
    }

    @Test func `R-033: a database has a limited number of zones, and each zone has its own result`() throws {
        var limits = Limits()
        limits.zonesMax = 3
        let snapshot = ZonesSnapshot(zones: ["A": zone("A", id: 1)], zoneCount: 2)
        let (outcome, changes) = request(["B", "A", "C"]).decide(on: snapshot, limits: limits)
        #expect(try outcome.get().saves == items([nil, nil, .tooManyZones]))
        #expect(changes?.created == ["B"])
    }

    @Test func `R-991: an account has a limited number of zones in all containers, and each zone has its own result`()
        throws
    {
        var limits = Limits()
        #expect(limits.accountZonesMax <= ZonesSnapshot.accountZonesCounted)
        limits.accountZonesMax = 8
        limits.zonesMax = 4
        let zones = ["A": zone("A", id: 1)]
        let snapshot = ZonesSnapshot(zones: zones, zoneCount: 2, accountZoneCount: 7)
        let (outcome, changes) = request(["B", "A", "C"]).decide(on: snapshot, limits: limits)
        #expect(try outcome.get().saves == items([nil, nil, .tooManyAccountZones]))
        #expect(changes?.created == ["B"])
        // That of the database is told first: to delete there helps with both.
        let full = ZonesSnapshot(zones: zones, zoneCount: 4, accountZoneCount: 8)
        #expect(try request(["B"]).decide(on: full, limits: limits).outcome.get().saves == items([.tooManyZones]))
        // A public database has none that count.
        let open = ZonesSnapshot(zones: zones, zoneCount: 2)
        #expect(try request(["B"]).decide(on: open, limits: limits).outcome.get().saves == items([nil]))
    }

    @Test func `R-753: while very many zones have ended, no zone is created, and all else goes on`() throws {
        var limits = Limits()
        limits.endedZonesMax = 4
        let lives = ["A": zone("A", id: 1), "B": zone("B", id: 2)]
        let full = ZonesSnapshot(zones: lives, zoneCount: 2, endedCount: 4)
        let (outcome, changes) = request(["A", "C"], ["B"]).decide(on: full, limits: limits)
        #expect(try outcome.get() == ZonesOutcome(saves: items([nil, .zoneBusy]), deletes: items([nil])))
        #expect(changes?.created == [] && changes?.removed == [ZoneID(2)])
        let kept = (2...4).map { count in
            ZonesRequest.endedZonesKept(by: ZonesSnapshot(endedCount: count), limits: limits)
        }
        #expect(kept == [nil, 1, 1])
    }

    @Test func `R-155, R-116, R-157: requests that are refused as a whole, in the order of the failures`() {
        var limits = Limits()
        limits.itemsMax = 2
        let rows: [(ZonesRequest, FailureReason)] = [
            (request(["A", "A", "A"], [], stamp(0)), .requestInvalid),
            (request(["A", "A", "A"]), .tooManyItems),
            (request(["A", "A"]), .itemRepeated),
            (request(["A"], ["A"]), .itemRepeated),
            (request(["A"], [], stamp(2)), .requestForgotten),
        ]
        let snapshot = ZonesSnapshot(memory: RequestMemory(lowestCounter: 3))
        for (asked, reason) in rows {
            let (outcome, changes) = asked.decide(on: snapshot, limits: limits)
            #expect(outcome == .failure(reason))
            #expect(changes == nil)
        }
    }

    @Test func `R-157: a repeated deletion does not hit the zone that was created since`() throws {
        let snapshot = ZonesSnapshot(zones: ["A": zone("A", id: 1)], zoneCount: 1)
        let asked = request([], ["A", "_"])
        let first = asked.decide(on: snapshot, limits: limits)
        let recreated = ZonesSnapshot(zones: ["A": zone("A", id: 2)], zoneCount: 1, memory: first.changes?.memory)
        let second = asked.decide(on: recreated, limits: limits)
        #expect(second.outcome == first.outcome)
        #expect(second.changes == nil)
        let other = request(["B"], [], asked.id).decide(on: recreated, limits: limits)
        #expect(other.outcome == .failure(.requestInvalid))
    }

    @Test func `R-024, R-025: capabilities`() {
        #expect(ZoneCapabilities.of(zoneNamed: "Notes", in: .private).rawValue == 15)
        #expect(ZoneCapabilities.of(zoneNamed: "Notes", in: .shared).rawValue == 3)
        for scope in [DatabaseScope.public, .private] {
            #expect(ZoneCapabilities.of(zoneNamed: ZoneName.default, in: scope).isEmpty)
        }
    }
}
