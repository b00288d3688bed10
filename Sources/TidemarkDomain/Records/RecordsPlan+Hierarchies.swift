// SPDX-License-Identifier: Apache-2.0

// The rules of shared hierarchies (R-301 … R-303), on the end state of a request.

extension RecordsPlan {
    /// Refuses first saves of shares without their roots, and the roots of refused shares: both are saved or neither. If that refuses
    /// nothing, it refuses saves that would put a record into two shares, or move too many records. The caller repeats it until nothing is
    /// refused. Then each record of the zone was looked at about ten times at most (``hierarchyRoundsMax``).
    ///
    /// - Returns: whether something was refused.
    mutating func refuseHierarchies(_ request: RecordsRequest, _ table: ZoneTable, _ rules: SaveRules) -> Bool {
        let firsts = request.firstHierarchySaves(on: table)
        guard !firsts.isEmpty || table.hierarchies != nil else { return false }
        let before = refusedCount
        guard table.hierarchies != nil else {
            for index in firsts where saves[index].record != nil { refuse(index, ItemFailure(.serverFault)) }
            return refusedCount > before
        }
        joinRoots(of: firsts, request, rules)
        // NB: parents are asked about again first, because that takes far less time.
        if refusedCount > before { return true }
        let failures = failures(request, table, rules.limits)
        if failures.isEmpty { return false }
        hierarchyRoundCount += 1
        if hierarchyRoundCount <= Self.hierarchyRoundsMax {
            for (index, failure) in failures { refuse(index, failure) }
        } else {
            // The remaining saves may still be wrong after so many rounds, so the client must send them again in parts.
            for index in saves.indices where saves[index].record != nil {
                refuse(index, ItemFailure(.tooMuchAtOnce))
            }
        }
        return true
    }

    private static let hierarchyRoundsMax = 8

    private var refusedCount: Int {
        saves.count { if case .refuse = $0 { true } else { false } }
    }

    private mutating func refuse(_ index: Int, _ failure: ItemFailure) {
        saves[index] = .refuse(failure)
        shares[index] = nil
    }

    /// A root gets a new version with its share, also if nothing else in it changes.
    ///
    /// - Parameter firsts: the places of the first saves of shares.
    private mutating func joinRoots(of firsts: [Int], _ request: RecordsRequest, _ rules: SaveRules) {
        var taken: Set<String> = []
        for index in firsts {
            guard let root = request.saves[index].share?.rootName,
                let rootIndex = request.saves.firstIndex(where: { $0.name == root }), !request.saves[rootIndex].isShare
            else {
                if saves[index].record != nil { refuse(index, ItemFailure(.shareRootMissing)) }
                continue
            }
            switch (saves[index], saves[rootIndex]) {
            case (.refuse, .refuse): break
            case (.refuse, _):
                let isShared = firsts.contains { other in
                    request.saves[other].share?.rootName == root && saves[other].record != nil
                }
                if !isShared { refuse(rootIndex, ItemFailure(.batchFailed)) }
            case (_, .refuse): refuse(index, ItemFailure(.batchFailed))
            default:
                guard taken.insert(root).inserted else {
                    refuse(index, ItemFailure(.alreadyShared))
                    continue
                }
                if case .keep(let record) = saves[rootIndex] {
                    saves[rootIndex] = rules.update(record, by: request.saves[rootIndex], isChange: true)
                }
            }
        }
    }

    /// The saves that would fail if all others succeeded.
    private mutating func failures(
        _ request: RecordsRequest, _ table: ZoneTable, _ limits: Limits
    ) -> [Int: ItemFailure] {
        var moved: [Int: RecordState] = [:]
        for index in saves.indices {
            guard case .write(let record, let old?) = saves[index] else { continue }
            if !old.isDeleted, old.parent != record.parent { moved[index] = record }
        }
        var failures = failuresTogether(table, limits)
        let firsts = firstPlans.filter { $0.plan.rootName != nil }
        // NB: most requests move nothing, and the table is not copied for them.
        guard !moved.isEmpty || !firsts.isEmpty, var trial = table.hierarchies else { return failures }
        for save in saves {
            if case .write(let record, let old) = save { trial.replace(old, with: record) }
        }
        trial.settle()
        let roots = firsts.compactMap(\.plan.rootName)
        // NB: a record may be below many that move, and is looked at once.
        let subtrees = trial.subtrees(of: moved.values.map(\.name) + roots)
        for (index, record) in moved {
            guard let subtree = subtrees[record.name] else { continue }
            let share = record.parent.flatMap(trial.share(of:))
            if share != nil, subtree.hasRoot {
                failures[index] = ItemFailure(.alreadyShared)
            } else if trial.isCut || subtree.count > limits.shareSubtreeMax, trial.moves(record.name) {
                failures[index] = ItemFailure(.hierarchyTooLarge, within: limits)
            }
        }
        // If the request makes both shares, the later save gives way.
        let nested = trial.nested(roots)
        for (place, root) in roots.enumerated() {
            guard let subtree = subtrees[root] else { continue }
            let index = firsts[place].index
            if trial.share(of: root) != nil || subtree.hasRoot || nested.contains(place) {
                failures[index] = ItemFailure(.alreadyShared)
            } else if trial.isCut || subtree.count > limits.shareSubtreeMax {
                failures[index] = ItemFailure(.hierarchyTooLarge, within: limits)
            }
        }
        hierarchyVisitCount += trial.visitCount - (table.hierarchies?.visitCount ?? 0)
        return failures
    }

    /// The shares that the request makes, in the order of their saves.
    private var firstPlans: [(index: Int, plan: SharePlan)] {
        shares.filter { $0.value.current == nil && saves[$0.key].record != nil }.sorted { $0.key < $1.key }
            .map { (index: $0.key, plan: $0.value) }
    }

    /// Saves that are possible alone, but not together: the later ones give way. R-304: the zone is shared as a whole or in parts.
    private func failuresTogether(_ table: ZoneTable, _ limits: Limits) -> [Int: ItemFailure] {
        guard shares.count > 1, let stored = table.shares else { return [:] }
        var failures: [Int: ItemFailure] = [:]
        let firsts = firstPlans
        let isZoneWide = firsts.first?.plan.rootName == nil
        var count = stored.sharing.hierarchyCount
        for (index, plan) in firsts {
            if isZoneWide != (plan.rootName == nil) {
                failures[index] = ItemFailure(isZoneWide ? .zoneIsShared : .zoneHasHierarchies)
            } else if !isZoneWide {
                count += 1
                if count > limits.hierarchiesMax { failures[index] = ItemFailure(.tooManyHierarchies) }
            }
        }
        var rowCount = 0
        for (index, plan) in shares.sorted(by: { $0.key < $1.key })
        where failures[index] == nil && saves[index].record != nil && plan.addedRowCount > 0 {
            if stored.hasRoom(for: rowCount + plan.addedRowCount, within: limits) {
                rowCount += plan.addedRowCount
            } else {
                failures[index] = ItemFailure(.tooMuchShared, within: limits)
            }
        }
        return failures
    }
}

extension RecordsRequest {
    /// The places of the saves that would make shares of hierarchies.
    fileprivate func firstHierarchySaves(on table: ZoneTable) -> [Int] {
        saves.indices.filter { index in
            guard saves[index].share?.rootName != nil else { return false }
            return table.shares?.sharing.livingShare(named: saves[index].name) == nil
        }
    }
}
