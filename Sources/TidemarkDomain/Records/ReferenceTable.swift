// SPDX-License-Identifier: Apache-2.0

internal import TidemarkFields

/// Who holds deleteSelf references to whom in one zone, as far as a transaction has read it and changed it so far.
struct ReferenceTable: Sendable {
    /// Complete for all that a cascade may reach from what is deleted.
    private var holders: [String: Set<String>]
    /// The same the other way round, as far as it is known.
    private var targets: [String: Set<String>] = [:]
    /// For the targets of references that are saved.
    private var counts: [String: Int]
    /// What the rows of each changed holder were, and what they are to be.
    private var changes: [String: (before: Set<String>, after: Set<String>)] = [:]
    /// Whether ``holders`` is not complete, because there are too many.
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

    /// Whether a request of the group saves deleteSelf references: most do not, and need not look for them again.
    var isCounted: Bool { !counts.isEmpty }

    /// With what the container says of references.
    func limits(_ limits: Limits) -> Limits {
        var limits = limits
        limits.referencesMax = referencesMax ?? limits.referencesMax
        return limits
    }

    func count(of target: String) -> Int { counts[target] ?? 0 }

    /// A record took the place of another version, either of which may be a tombstone or missing.
    mutating func replace(_ old: RecordState?, with new: RecordState) {
        let name = new.name
        guard !targets.isEmpty || new.fields.mayNameOthers || old?.fields.mayNameOthers == true else { return }
        let before = (old?.livingTargets ?? []).union(targets[name] ?? [])
        let after = new.livingTargets
        guard before != after else { return }
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

    /// What has to be written.
    var written: ReferenceChanges {
        var written = ReferenceChanges()
        for (holder, change) in changes.sorted(by: { $0.key < $1.key }) where change.before != change.after {
            if !change.before.isEmpty { written.dropped.append(holder) }
            written.added += change.after.sorted().map { HeldReference(holder: holder, target: $0) }
        }
        return written
    }
}

extension RecordState {
    /// The records with which this one goes; none for a tombstone.
    var livingTargets: Set<String> { isDeleted ? [] : fields.deleteSelfTargets }
}
