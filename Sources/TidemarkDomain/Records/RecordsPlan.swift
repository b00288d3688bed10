// SPDX-License-Identifier: Apache-2.0

/// What becomes of one delete.
enum PlannedDelete: Sendable {
    /// The tombstone; its change number is given out when the whole request is decided.
    case write(RecordState)
    /// there is nothing to delete.
    case skip
    case refuse(FailureReason)
}

/// What becomes of each item of a request. Nothing is changed to find out, so nothing has to be taken back when an
/// atomic request fails.
///
/// References are judged on the end state, which depends on what is refused: a refused save may be the
/// parent of another. So they are judged in rounds until a round refuses nothing more; each round takes time in
/// proportion to the request, and there are at most as many as items. Where a save and a delete exclude each other,
/// the save wins: nothing is lost.
struct RecordsPlan {
    private(set) var saves: [PlannedSave]
    private(set) var deletes: [PlannedDelete]

    init(_ request: RecordsRequest, on table: ZoneTable, limits: Limits, now: Timestamp) {
        let rules = SaveRules(request: request, table: table, limits: limits, now: now)
        saves = request.saves.map(rules.plan)
        deletes = request.deletes.map { name in
            guard RecordName.isValid(name, limits: limits) else { return .refuse(.recordNameInvalid) }
            return rules.tombstone(of: name).map(PlannedDelete.write) ?? .skip
        }
        if request.saves.contains(where: { $0.parent.setsParent }) { refuseBadParents(request, table) }
        refuseParentsInUse(table)
    }

    var isRefusedInPart: Bool {
        saves.contains { $0.record == nil }
            || deletes.contains { if case .refuse = $0 { true } else { false } }
    }

    /// refuses what has no failure of its own.
    mutating func refuseWhole() {
        for index in saves.indices where saves[index].record != nil {
            saves[index] = .refuse(ItemFailure(.batchFailed))
        }
        for index in deletes.indices {
            if case .refuse = deletes[index] { continue }
            deletes[index] = .refuse(.batchFailed)
        }
    }

    // MARK

    private mutating func refuseBadParents(_ request: RecordsRequest, _ table: ZoneTable) {
        let named = Set(request.saves.map(\.name) + request.saves.compactMap(\.parent.newParent) + request.deletes)
        while true {
            let graph = ParentGraph(saves: saves.compactMap(\.record), named: named, table: table)
            let cyclic = graph.namesOnCycles
            let refused = saves.indices.compactMap { index -> (Int, FailureReason)? in
                guard request.saves[index].parent.setsParent, let record = saves[index].record else { return nil }
                if let parent = record.parent, !graph.contains(parent) { return (index, .parentMissing) }
                return cyclic.contains(record.name) ? (index, .parentCycle) : nil
            }
            if refused.isEmpty { return }
            for (index, reason) in refused { saves[index] = .refuse(ItemFailure(reason)) }
        }
    }

    // MARK

    private mutating func refuseParentsInUse(_ table: ZoneTable) {
        let saved = saves.compactMap(\.record)
        let savedNames = Set(saved.map(\.name))
        let savedParents = Set(saved.compactMap(\.parent))
        while true {
            var deleted: Set<String> = []
            for case .write(let tombstone) in deletes { deleted.insert(tombstone.name) }
            let refused = deletes.indices.filter { index in
                guard case .write(let tombstone) = deletes[index] else { return false }
                let name = tombstone.name
                return savedParents.contains(name)
                    || table.children(of: name).contains { !deleted.contains($0) && !savedNames.contains($0) }
            }
            if refused.isEmpty { return }
            for index in refused { deletes[index] = .refuse(.stillParent) }
        }
    }
}

extension ParentChange {
    var setsParent: Bool { newParent != nil }

    fileprivate var newParent: String? { if case .set(let parent) = self { parent } else { nil } }
}

/// Who would be whose parent if the saves took place, as far as the request names records: what others of its group have
/// read besides must not decide.
///
/// Deletes are left out: a record that is somebody's parent is not deleted.
private struct ParentGraph {
    let saved: [String: RecordState]
    let named: Set<String>
    let table: ZoneTable

    init(saves: [RecordState], named: Set<String>, table: ZoneTable) {
        saved = Dictionary(saves.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        self.named = named
        self.table = table
    }

    func contains(_ name: String) -> Bool { record(name) != nil }

    private func record(_ name: String) -> RecordState? {
        saved[name] ?? (named.contains(name) ? table.living(name) : nil)
    }

    /// Follows the parents of each saved record, each record once.
    var namesOnCycles: Set<String> {
        var pathOfName: [String: Int] = [:]
        var cyclic: Set<String> = []
        for (path, start) in saved.keys.enumerated() {
            var next: String? = start
            while let name = next, pathOfName[name] == nil {
                pathOfName[name] = path
                next = record(name)?.parent
            }
            // The path came back to itself: everything from there on is on the cycle.
            guard let entry = next, pathOfName[entry] == path else { continue }
            var name = entry
            repeat {
                cyclic.insert(name)
                name = record(name)?.parent ?? entry
            } while name != entry
        }
        return cyclic
    }
}
