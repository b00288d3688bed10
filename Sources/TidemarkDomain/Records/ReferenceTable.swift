// SPDX-License-Identifier: Apache-2.0

internal import TidemarkFields

/// The deleteSelf references in one zone, as a transaction has read and changed them so far.
struct ReferenceTable: Sendable {
    /// The holders of each target. Complete for everything that a cascade of this group may reach.
    private var holders: [String: Set<String>]
    /// The targets of each holder, as far as they are known.
    private var targets: [String: Set<String>] = [:]
    /// How many references each target of a saved reference has.
    private var counts: [String: Int]
    /// For each changed holder, the targets in its rows before and after.
    private var changes: [String: (before: Set<String>, after: Set<String>)] = [:]
    /// Changed records whose stored references are not all known.
    private var unreadHolders: Set<String> = []
    /// Whether ``holders`` is incomplete, because there are too many references.
    let isCut: Bool
    private let referencesMax: Int?

    init(_ snapshot: ZoneSnapshot) {
        holders = snapshot.holders.mapValues(Set.init)
        counts = snapshot.referenceCounts
        isCut = snapshot.isCascadeCut
        referencesMax = snapshot.referencesMax
        for (target, names) in snapshot.holders {
            for name in names { targets[name, default: []].insert(target) }
        }
    }

    func holders(of target: String) -> Set<String> { holders[target] ?? [] }

    /// Whether a request of the group saves deleteSelf references. Most do not, and skip the search.
    var isCounted: Bool { !counts.isEmpty }

    /// The limits, with the container's own limit of references.
    func limits(_ limits: Limits) -> Limits {
        var limits = limits
        limits.referencesMax = referencesMax ?? limits.referencesMax
        return limits
    }

    func count(of target: String) -> Int { counts[target] ?? 0 }

    /// Takes in a new version of a record. Either version may be a tombstone, and the old one may be missing.
    ///
    /// - Parameter wasUnread: whether the stored version was read without its fields. Then it may hold references that
    ///   nobody knows here, and all of its rows are replaced.
    mutating func replace(_ old: RecordState?, with new: RecordState, wasUnread: Bool) {
        let name = new.name
        if wasUnread { unreadHolders.insert(name) }
        guard wasUnread || !targets.isEmpty || new.fields.mayNameOthers || old?.fields.mayNameOthers == true else {
            return
        }
        let before = (old?.livingTargets ?? []).union(targets[name] ?? [])
        let after = new.livingTargets
        guard wasUnread || before != after else { return }
        for target in before.subtracting(after) {
            holders[target]?.remove(name)
            counts[target]? -= 1
        }
        for target in after.subtracting(before) {
            holders[target, default: []].insert(name)
            counts[target]? += 1
        }
        targets[name] = after
        changes[name] = (changes[name]?.before ?? before, after)
    }

    /// The changes of the transaction.
    var written: ReferenceChanges {
        var written = ReferenceChanges()
        for (holder, change) in changes.sorted(by: { $0.key < $1.key }) {
            let wasUnread = unreadHolders.contains(holder)
            guard wasUnread || change.before != change.after else { continue }
            if wasUnread || !change.before.isEmpty { written.dropped.append(holder) }
            written.added += change.after.sorted().map { HeldReference(holder: holder, target: $0) }
        }
        return written
    }
}

extension RecordState {
    /// The records with which this one is deleted; empty for a tombstone.
    var livingTargets: Set<String> { isDeleted ? [] : fields.deleteSelfTargets }
}
