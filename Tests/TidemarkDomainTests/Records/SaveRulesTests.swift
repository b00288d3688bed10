// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkFields
import TidemarkTestSupport

/// The truth table of saving on the pure rules.
@Suite struct SaveRulesTests {
    private typealias Cell = SaveTruthTable.Cell

    @Test
    func
        `R-090 … R-114: every policy, tag, record, zone and database has its line in the table, and each line is used`()
    {
        #expect(SaveTruthTable.cells.allSatisfy { SaveTruthTable.rule(for: $0) != nil })
        let used = Set(SaveTruthTable.cells.compactMap { SaveTruthTable.rule(for: $0)?.names })
        #expect(used == Set(SaveTruthTable.rules.map(\.names)))
        // Living zones of the owner, zones that do not live, the public and the shared database.
        #expect(SaveTruthTable.cells.count == 3 * 7 * (3 * 4 + 4 + 3 * 4 + 1) * 2)
        #expect(Set(SaveTruthTable.cells.map(\.recordName)).count == SaveTruthTable.cells.count)
    }

    @Test func `R-006, R-007, R-010, R-028, R-054, R-090 … R-108, R-114: the truth table of saving on the rules`() {
        // who has no account gets no as far as the rules.
        for cell in SaveTruthTable.cells where cell.access != .nobody {
            guard let rule = SaveTruthTable.rule(for: cell) else { continue }
            check(cell, rule.result, "\(rule.names): \(cell)")
        }
    }

    private func sentFields(_ cell: Cell) -> FieldMap {
        cell.sent == .changes ? fields(["b": 20, "c": nil, "d": 4]) : FieldMap()
    }

    private func check(_ cell: Cell, _ expected: SaveTruthTable.Result, _ comment: Comment) {
        var zone = zone(cell)
        let before = zone
        let old = zone.records["r"]
        let sent = save("r", tag: tag(cell.tag, in: zone), sentFields(cell))
        let outcome = zone.run(request(sent, cell, &zone), now: 500).saves.first
        switch expected {
        case .created:
            let record = zone.living("r")
            #expect(record?.fields == (cell.sent == .changes ? fields(["b": 20, "d": 4]) : FieldMap()), comment)
            #expect(record?.createdBy == bob && record?.createdByDevice == access(cell).marking(laptop), comment)
            // a new creation date, later than anything that was there.
            #expect(record?.createdAt == record?.modifiedAt, comment)
            if let old, let record { #expect(record.createdAt > old.modifiedAt, comment) }
        case .updated:
            let record = zone.living("r")
            #expect(record?.fields == fields(["a": 1, "b": 20, "d": 4]), comment)
            #expect(record?.createdBy == old?.createdBy && record?.createdAt == old?.createdAt, comment)
            #expect(record?.modifiedBy == bob, comment)
        case .kept:
            #expect(outcome?.metadata == old.flatMap { RecordMetadata(of: $0, in: zone, for: cell) }, comment)
            #expect(zone.records == before.records && zone.zone == before.zone, comment)
            return
        case .refused(let reason):
            #expect(outcome?.reason == reason, comment)
            // nothing is half applied. R-111: the record in the way comes along, complete.
            #expect(zone.records == before.records && zone.zone == before.zone, comment)
            #expect(outcome?.failure?.serverRecord == (reason.isConflict ? old : nil), comment)
            #expect(outcome?.failure?.serverZone == (reason.isConflict ? zone.zone?.id : nil), comment)
            return
        }
        let record = zone.records["r"]
        #expect(zone.zone?.changeNumber == (before.zone?.changeNumber ?? 0) + 1, comment)
        #expect(record?.changeNumber == zone.zone?.changeNumber, comment)
        #expect(outcome?.metadata == record.flatMap { RecordMetadata(of: $0, in: zone, for: cell) }, comment)
        if let old, let record { #expect(record.modifiedAt > old.modifiedAt, comment) }
    }

    private func request(_ sent: RecordSave, _ cell: Cell, _ zone: inout TestZone) -> RecordsRequest {
        let request = zone.request(saves: [sent], policy: cell.policy, device: laptop, user: bob)
        return RecordsRequest(
            id: request.id, key: request.key, saves: [sent], deletes: [], policy: cell.policy,
            isAtomic: false, user: bob, access: access(cell))
    }

    private func access(_ cell: Cell) -> RecordAccess { RecordAccess(scope: cell.access.scope, user: bob) }

    private func zone(_ cell: Cell) -> TestZone {
        let name = cell.zone == .standard ? ZoneName.default : "Notes"
        let removals: [SaveTruthTable.Zone: ZoneRemovalReason] = [
            .recreated: .deleted, .deleted: .deleted, .purged: .purged, .keysReset: .encryptedDataReset,
        ]
        var zone = TestZone(name: name, exists: cell.access.sees(cell.zone), lastRemoval: removals[cell.zone])
        guard cell.access.sees(cell.zone) else { return zone }
        let creator = cell.access == .otherUser ? alice : bob
        zone.save(save("other"), user: creator, now: 900)
        if cell.server == .neverExisted { return zone }
        let type = cell.server == .presentWithAnotherType ? "Another" : "Item"
        zone.save(save("r", type: type, fields(["a": 1])), user: creator, now: 1_000)
        zone.save(
            save("r", type: type, fields(["b": 2, "c": 3])), policy: .changedKeys, user: creator, now: 1_001)
        if cell.server == .deleted { zone.delete("r", now: 1_002) }
        return zone
    }

    private func tag(_ tag: SaveTruthTable.Tag, in zone: TestZone) -> ChangeTag? {
        let state = zone.zone ?? ZoneState(id: ZoneID(70), key: zone.key, createdAt: 0)
        let current = zone.records["r"]?.changeNumber ?? 1
        func version(_ number: ChangeNumber, zone: ZoneID = state.id, store: StoreIncarnation = store) -> ChangeTag {
            .version(store: store, zone: zone, number: number)
        }
        return switch tag {
        case .none: nil
        case .equal: version(current)
        case .older: version(current - 1)
        case .ahead: version(state.changeNumber + 100)
        case .otherIncarnationOfZone: version(current, zone: ZoneID(state.id.rawValue - 1))
        case .otherStore: version(current, store: StoreIncarnation(store.rawValue + 1))
        case .foreign: .foreign
        }
    }

    @Test(
        arguments: [
            (nil, FailureReason.zoneNotFound), (.deleted, .zoneNotFound), (.purged, .zonePurged),
            (.encryptedDataReset, .zoneKeysReset),
        ] as [(ZoneRemovalReason?, FailureReason)])
    func `R-028, R-105, R-106, R-107, R-132: a missing zone fails every item, whatever else is wrong with it`(
        removal: ZoneRemovalReason?, reason: FailureReason
    ) {
        for atomic in [false, true] {
            var zone = TestZone(exists: false, lastRemoval: removal)
            let request = zone.request(saves: [save("r"), save("_bad")], deletes: ["x"], atomic: atomic)
            let read = request.read(within: Limits())
            let overlay = ZoneOverlay(snapshot: zone.snapshot(for: read), store: store, limits: Limits())
            #expect(overlay.apply(request, now: 1).reasons == [reason, reason, reason])
            #expect(overlay.changes == nil)
            #expect(overlay.movedBy.isEmpty)
        }
    }
}

extension RecordMetadata {
    fileprivate init?(of record: RecordState, in zone: TestZone, for cell: SaveTruthTable.Cell) {
        guard let state = zone.zone else { return nil }
        self.init(of: record, record.changeNumber, in: state.id, cell.isBehind ? .record(record) : .known)
    }
}
