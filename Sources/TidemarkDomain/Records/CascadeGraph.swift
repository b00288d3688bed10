// SPDX-License-Identifier: Apache-2.0

/// The records that are deleted with others, and the parents of records, as if the saves of a request
/// had taken place.
struct CascadeGraph {
    /// Some records, and all that are deleted with them.
    struct Reach {
        /// Each once, in a deterministic order.
        fileprivate(set) var names: [String] = []
        fileprivate var targets: [String: [String]] = [:]
        fileprivate var set: Set<String> = []
    }

    private let table: ZoneTable
    private let saved: [String: RecordState]
    private let savedHolders: [String: [String]]
    private let savedChildren: [String: [String]]

    init(saves: [RecordState], table: ZoneTable) {
        self.table = table
        saved = Dictionary(saves.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        var holders: [String: [String]] = [:]
        var children: [String: [String]] = [:]
        for record in saves {
            for target in record.livingTargets { holders[target, default: []].append(record.name) }
            if let parent = record.parent { children[parent, default: []].append(record.name) }
        }
        savedHolders = holders
        savedChildren = children
    }

    /// The record as it would be after the saves; nil if it would not exist.
    func record(_ name: String) -> RecordState? { saved[name] ?? table.living(name) }

    /// Follows references to the records that hold them, each record once, so that cycles end.
    ///
    /// - Parameter spared: records that stay, whatever they refer to.
    func reach(from roots: [String], sparing spared: Set<String>) -> Reach {
        var reach = Reach()
        reach.names = roots
        reach.set = Set(roots)
        var next = 0
        while next < reach.names.count {
            let target = reach.names[next]
            next += 1
            // a user's record is never deleted, whatever it refers to.
            for holder in holders(of: target) where !RecordName.isUser(holder) && !spared.contains(holder) {
                reach.targets[holder, default: []].append(target)
                if reach.set.insert(holder).inserted { reach.names.append(holder) }
            }
        }
        return reach
    }

    /// The records of the reach that cannot be deleted, because a living child would lose its parent.
    func parents(in reach: Reach) -> [String] { reach.names.filter { !orphans(of: $0, in: reach).isEmpty } }

    /// The records of the reach that have a living child, inside of it or not.
    func withChildren(_ reach: Reach) -> [String] { reach.names.filter { !children(of: $0).isEmpty } }

    /// Why some records of the reach cannot be deleted. Deleting one would leave a living child without its parent, or
    /// would take along a record for which that is so. The search goes from those records back to the roots.
    ///
    /// - Parameter reason: why the request failed to delete or move such a child. Nil if the request did not try; such
    ///   a child decides if both kinds are in the way.
    func reasonsToStay(_ reach: Reach, _ reason: (String) -> FailureReason?) -> [String: FailureReason] {
        let direct = reach.names.compactMap { name -> (name: String, reason: FailureReason)? in
            let reasons = orphans(of: name, in: reach).map(reason)
            guard let first = reasons.first else { return nil }
            return (name, reasons.contains(nil) ? .stillParent : first ?? .stillParent)
        }
        var found: [String: FailureReason] = [:]
        for start in direct.filter({ $0.reason == .stillParent }) + direct {
            var waiting = [start.name]
            while let name = waiting.popLast() {
                guard found[name] == nil else { continue }
                found[name] = start.reason
                waiting += reach.targets[name] ?? []
            }
        }
        return found
    }

    /// The living children that would lose their parent if the record were deleted, in order.
    private func orphans(of name: String, in reach: Reach) -> [String] {
        children(of: name).filter { !reach.set.contains($0) }.sorted()
    }

    private func children(of name: String) -> [String] {
        (savedChildren[name] ?? []) + table.children(of: name).filter { saved[$0] == nil }
    }

    private func holders(of target: String) -> [String] {
        let unchanged = table.references.holders(of: target).filter { saved[$0] == nil }
        return (unchanged + (savedHolders[target] ?? [])).sorted()
    }
}
