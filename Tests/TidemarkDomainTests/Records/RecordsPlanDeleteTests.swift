// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkFields
import TidemarkTestSupport

/// The truth table of deleting on the pure rules.
@Suite struct RecordsPlanDeleteTests {
    private typealias Cell = DeleteTruthTable.Cell

    @Test func `R-130 … R-139: every record, zone and database has its line in the table, and each line is used`() {
        #expect(DeleteTruthTable.cells.allSatisfy { DeleteTruthTable.rule(for: $0) != nil })
        let used = Set(DeleteTruthTable.cells.compactMap { DeleteTruthTable.rule(for: $0)?.names })
        #expect(used == Set(DeleteTruthTable.rules.map(\.names)))
        // What is not there, and what is with all relations: in living zones of the owner, and in the public database (thrice);
        // then the zones that do not live, and the shared database.
        #expect(DeleteTruthTable.cells.count == (2 + 2 * 7) * (3 + 3) + 4 + 1)
        #expect(Set(DeleteTruthTable.cells.map(\.recordName)).count == DeleteTruthTable.cells.count)
    }

    @Test func `R-006, R-010, R-106, R-107, R-117, R-130 … R-137, R-139: the truth table of deleting on the rules`() {
        // who has no account gets no as far as the rules.
        for cell in DeleteTruthTable.cells where cell.access != .nobody {
            guard let rule = DeleteTruthTable.rule(for: cell) else { continue }
            for isAtomic in [false, true] { check(cell, rule.result, isAtomic, "\(rule.names): \(cell)") }
        }
    }

    private func check(_ cell: Cell, _ expected: DeleteTruthTable.Result, _ isAtomic: Bool, _ comment: Comment) {
        var zone = zone(cell)
        let before = zone
        let reasons = zone.run(request(cell, isAtomic, &zone), now: 500).reasons ?? []
        #expect(reasons.count == cell.deletes.count, comment)
        switch expected {
        case .deleted:
            #expect(reasons.allSatisfy { $0 == nil }, comment)
            let ends = Set(cell.deletes + cell.company)
            for (name, old) in before.records {
                guard ends.contains(name) else {
                    #expect(zone.records[name] == old, comment)
                    continue
                }
                let tombstone = zone.records[name]
                #expect(tombstone?.isDeleted == true && tombstone?.fields.isEmpty == true, comment)
                // its type is told, after all that was told before.
                #expect(tombstone?.type == old.type && tombstone?.modifiedBy == bob, comment)
                #expect(tombstone?.changeNumber ?? 0 > before.zone?.changeNumber ?? 0, comment)
                #expect(tombstone.map { $0.modifiedAt > old.modifiedAt } == true, comment)
            }
            #expect(zone.zone?.changeNumber == (before.zone?.changeNumber ?? 0) + ChangeNumber(ends.count), comment)
            #expect(zone.references.isEmpty, comment)
        case .nothing:
            #expect(reasons.allSatisfy { $0 == nil }, comment)
            #expect(zone.records == before.records && zone.zone == before.zone, comment)
        case .refused(let reason):
            #expect(reasons.allSatisfy { $0 == reason }, comment)
            #expect(zone.records == before.records && zone.zone == before.zone, comment)
            #expect(zone.references == before.references, comment)
        }
    }

    private func request(_ cell: Cell, _ isAtomic: Bool, _ zone: inout TestZone) -> RecordsRequest {
        let request = zone.request(deletes: cell.deletes, atomic: isAtomic, device: laptop, user: bob)
        return RecordsRequest(
            id: request.id, key: request.key, saves: [], deletes: cell.deletes,
            policy: .ifServerRecordUnchanged, isAtomic: isAtomic, user: bob,
            access: RecordAccess(scope: cell.access.scope, user: bob))
    }

    private func zone(_ cell: Cell) -> TestZone {
        let name = cell.zone == .standard ? ZoneName.default : "Notes"
        let removals: [DeleteTruthTable.Zone: ZoneRemovalReason] = [
            .recreated: .deleted, .deleted: .deleted, .purged: .purged, .keysReset: .encryptedDataReset,
        ]
        var zone = TestZone(name: name, exists: cell.access.sees(cell.zone), lastRemoval: removals[cell.zone])
        guard cell.access.sees(cell.zone) else { return zone }
        let creator = cell.access == .otherUser ? alice : bob
        zone.save(save("other"), user: creator, now: 900)
        if cell.server == .neverExisted { return zone }
        let type = cell.server == .presentWithAnotherType ? "Another" : "Item"
        let record = save(
            cell.recordName, type: type, fields(["a": 1]), parent: cell.parent.map(ParentChange.set) ?? .unchanged)
        let relatives = cell.relatives.map { relative in
            save(
                relative.name, type: "Relative", relative.target.map(Self.reference) ?? fields([:]),
                parent: relative.parent.map(ParentChange.set) ?? .unchanged)
        }
        zone.run(zone.request(saves: [record] + relatives, user: creator), now: 1_000)
        if cell.server == .deleted { zone.delete(cell.recordName, now: 1_002) }
        return zone
    }

    private static func reference(to target: String) -> FieldMap {
        do {
            return try FieldMap([Field("to", .reference(FieldReference(recordName: target, action: .deleteSelf)))])
        } catch {
            preconditionFailure("\(error)")
        }
    }
}
