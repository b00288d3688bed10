// SPDX-License-Identifier: Apache-2.0

/// The decision on one delete.
enum PlannedDelete: Sendable {
    /// Writes the tombstone. It gets its change number when the whole request is decided.
    case write(RecordState)
    /// there is nothing to delete.
    case skip
    /// the user takes part no longer. Writes a new version of the CKShare record.
    case leave(RecordState)
    case refuse(FailureReason)
}

/// The decision on each item of a request. Deciding changes nothing, so nothing must be undone if an atomic request
/// fails.
///
/// References are judged on the end state. The end state depends on the refusals, because a refused save
/// may be the parent of another. So references are judged in rounds, until a round refuses nothing more. There are at
/// most as many rounds as items. For saves each takes time in proportion to the request, and for deletes in proportion
/// to all that they reach. If a save and a delete exclude each other, the save wins: nothing is lost.
struct RecordsPlan {
    var saves: [PlannedSave]
    private(set) var deletes: [PlannedDelete]
    /// Tombstones of records that are deleted with those of the request. A record that the request saves is
    /// among them if it then refers to a deleted one: it is saved, then deleted.
    private(set) var cascade: [RecordState] = []
    /// The plans for shares, by the positions of the saves of their CKShare records. A plan counts if its save is not refused.
    var shares: [Int: SharePlan] = [:]
    /// How often something was refused because of shared hierarchies.
    var hierarchyRoundCount = 0
    /// How many records were looked at for that.
    var hierarchyVisitCount = 0

    /// - Parameter use: the present use of the zone's database; nil if there is no quota.
    init(_ request: RecordsRequest, on table: ZoneTable, use: StorageUse?, limits: Limits, now: Timestamp) {
        let rules = SaveRules(request: request, limits: limits, now: now)
        var shares: [Int: SharePlan] = [:]
        saves = request.saves.enumerated().map { index, save in
            guard let said = save.share else { return rules.plan(save, on: table) }
            return rules.plan(save, of: said, on: table, sharing: &shares[index])
        }
        self.shares = shares
        deletes = request.deletes.map { name in
            guard RecordName.isValid(name, limits: limits) else {
                // nobody deletes a user record.
                return .refuse(RecordName.isUser(name) ? .notPermitted : .recordNameInvalid)
            }
            return rules.planDelete(of: name, on: table)
        }
        if table.references.isCounted { refuseTooManyReferences(table, limits: limits) }
        if use != nil || table.isShared { refuseOverQuota(request, table, use) }
        repeat {
            if request.saves.contains(where: { $0.parent.setsParent }) { refuseBadParents(request, table, rules) }
        } while refuseHierarchies(request, table, rules)
        if !request.deletes.isEmpty { planCascade(request, table, rules) }
    }

    var isRefusedInPart: Bool {
        saves.contains { if case .refuse = $0 { true } else { false } }
            || deletes.contains { if case .refuse = $0 { true } else { false } }
    }

    /// refuses every item that has no failure of its own.
    mutating func refuseWhole() {
        for index in saves.indices {
            if case .refuse = saves[index] { continue }
            saves[index] = .refuse(ItemFailure(.batchFailed))
        }
        for index in deletes.indices {
            if case .refuse = deletes[index] { continue }
            deletes[index] = .refuse(.batchFailed)
        }
        cascade = []
    }

    // MARK

    private mutating func refuseBadParents(_ request: RecordsRequest, _ table: ZoneTable, _ rules: SaveRules) {
        var causes = RefusalCauses(request)
        var graph = ParentGraph(request, table: table)
        while true {
            graph.take(saves.compactMap(\.record))
            let cyclic = graph.namesOnCycles()
            // For each record on a cycle: the record on it whose move was refused, which would have broken the cycle;
            // nil if there is none.
            var moved: [String: String?] = [:]
            let refused = saves.indices.compactMap { index -> (Int, ItemFailure)? in
                guard request.saves[index].parent.setsParent, let record = saves[index].record else { return nil }
                // A parent that does not change needs no permission: it is known to exist.
                if let parent = record.parent, parent != table.living(record.name)?.parent,
                    let reason = rules.refusal(ofParent: graph.record(parent), isNew: table.living(parent) == nil)
                {
                    return (index, causes.failure(of: index, after: parent, saves) ?? ItemFailure(reason))
                }
                guard cyclic.contains(record.name) else { return nil }
                if moved[record.name] == nil {
                    let cycle = graph.cycle(from: record.name)
                    let name = cycle.first { causes.hasRefusedMove(of: $0, on: table, saves) }
                    for other in cycle { moved[other] = .some(name) }
                }
                let cause = moved[record.name] ?? nil
                return (index, causes.failure(of: index, after: cause, saves) ?? ItemFailure(.parentCycle))
            }
            if refused.isEmpty { return }
            for (index, failure) in refused { saves[index] = .refuse(failure) }
        }
    }

    // MARK: R-079

    private mutating func refuseTooManyReferences(_ table: ZoneTable, limits: Limits) {
        let limits = table.references.limits(limits)
        var added: [String: Int] = [:]
        for index in saves.indices {
            guard case .write(let record, let old) = saves[index] else { continue }
            let before = old?.livingTargets ?? []
            let new = record.livingTargets.subtracting(before)
            if new.contains(where: { table.references.count(of: $0) + added[$0, default: 0] >= limits.referencesMax }) {
                saves[index] = .refuse(ItemFailure(.tooManyReferences, within: limits))
            } else {
                for target in new { added[target, default: 0] += 1 }
                for target in before.subtracting(record.livingTargets) { added[target, default: 0] -= 1 }
            }
        }
    }

    // MARK

    /// Decides saves in order, before it is known which deletes take place. The space that they free serves the next
    /// request.
    ///
    /// The numbers of a public database are everybody's, so its refusals have none.
    private mutating func refuseOverQuota(_ request: RecordsRequest, _ table: ZoneTable, _ use: StorageUse?) {
        var use = use
        // The bytes that earlier saves have added to the shares of creators.
        var added: [UserID: Int64] = [:]
        for index in saves.indices {
            guard case .write(let record, let old) = saves[index] else { continue }
            let growth = table.growth(by: record, over: old)
            if let use, !use.hasRoom(for: growth) {
                let tellsUse = request.access.scope == .private
                saves[index] = .refuse(tellsUse ? ItemFailure(use, growth: growth) : ItemFailure(.quotaExceeded))
                continue
            }
            // A save of an operator there counts, and is not refused.
            let creator = record.createdBy
            if request.access.scope == .public, var share = table.share(of: creator) {
                share.byteCount += added[creator, default: 0]
                let growth = table.shareGrowth(by: record, over: old)
                guard share.hasRoom(for: growth) else {
                    saves[index] = .refuse(
                        ItemFailure(share: share, growth: growth, isOwn: creator == request.user))
                    continue
                }
                added[creator, default: 0] += growth
            }
            use?.byteCount += growth
        }
    }

    // MARK

    /// How often each record may be visited that a request's deletions reach. A single deletion visits it at most eleven
    /// times, so it is never refused for that.
    private static let visitsMax = 12

    /// Finds all records that the deletes take along. Refuses deletes that would leave a child without its parent.
    ///
    /// Each round that refuses something visits all remaining deletes. If that becomes too much, they are refused, and the client must send
    /// them in parts.
    private mutating func planCascade(_ request: RecordsRequest, _ table: ZoneTable, _ rules: SaveRules) {
        // a save that is left for another request may be what keeps its record out of the cascade.
        if saves.contains(where: \.isLeftForLater) { refuseDeletes { _ in .tooMuchAtOnce } }
        if table.areChildrenCut { refuseDeletes { _ in .cascadeTooLarge } }
        if table.references.isCut {
            // A record may have holders even if none of them was read.
            refuseDeletes { table.references.holders(of: $0.name).isEmpty ? .tooMuchAtOnce : .cascadeTooLarge }
        }
        let causes = RefusalCauses(request)
        let graph = CascadeGraph(saves: saves.compactMap(\.record), table: table)
        let isPrivate = request.access.scope == .private
        var spared: Set<String> = []
        var roundCount = 0
        var visitedCount = 0
        while true {
            roundCount += 1
            var roots: [Int: String] = [:]
            for index in deletes.indices {
                if case .write(let tombstone) = deletes[index] { roots[index] = tombstone.name }
            }
            let reach = graph.reach(from: roots.values.sorted(), sparing: spared)
            visitedCount += reach.names.count
            if visitedCount > rules.limits.cascadeReferencesMax * Self.visitsMax {
                return refuseDeletes { _ in .cascadeTooLarge }
            }
            // what somebody else refers with, and keeps from being deleted, keeps nobody else's record. A chain
            // could spare one record in each round, so after some rounds all that could be in the way are spared.
            let named = Set(roots.values)
            // a participant's delete takes no root along.
            let kept =
                isPrivate ? [] : reach.names.filter { !named.contains($0) && table.hierarchies?.isRoot($0) == true }
            let foreign =
                isPrivate
                ? []
                : kept
                    + (roundCount > 8 ? graph.withChildren(reach) : graph.parents(in: reach)).filter { name in
                        !named.contains(name) && graph.record(name).map(rules.mayChange) == false
                    }
            guard foreign.isEmpty else {
                spared.formUnion(foreign)
                continue
            }
            let reasons = graph.reasonsToStay(reach) { causes.reason(ofChild: $0, on: table, saves, deletes) }
            if reasons.isEmpty {
                cascade = reach.names.filter { !named.contains($0) }
                    .compactMap { graph.record($0).map(rules.tombstone(of:)) }
                return
            }
            for (index, name) in roots {
                if let reason = reasons[name] { deletes[index] = .refuse(reason) }
            }
        }
    }

    /// Refuses the remaining deletes.
    private mutating func refuseDeletes(_ reason: (RecordState) -> FailureReason) {
        for index in deletes.indices {
            if case .write(let tombstone) = deletes[index] { deletes[index] = .refuse(reason(tombstone)) }
        }
    }
}

extension ParentChange {
    var setsParent: Bool { if case .set = self { true } else { false } }
}
