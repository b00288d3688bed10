// SPDX-License-Identifier: Apache-2.0

/// What goes with what, and what is whose parent, if the saves of a request took place.
struct CascadeGraph {
    /// Everything that goes with some records, these included.
    struct Reach {
        /// Each once; in an order that is the same each time.
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

    /// The record as it would be; nil if it would not be there.
    func record(_ name: String) -> RecordState? { saved[name] ?? table.living(name) }

    /// Follows references to their holders, each record once: cycles end.
    func reach(from roots: [String]) -> Reach {
        var reach = Reach()
        reach.names = roots
        reach.set = Set(roots)
        var next = 0
        while next < reach.names.count {
            let target = reach.names[next]
            next += 1
            // a user's record is not deleted, whatever it refers to.
            for holder in holders(of: target) where !RecordName.isUser(holder) {
                reach.targets[holder, default: []].append(target)
                if reach.set.insert(holder).inserted { reach.names.append(holder) }
            }
        }
        return reach
    }

    /// Why those of the reach must stay that would leave a living child without its parent, or take one along that would: from
    /// them back to the roots.
    ///
    /// - Parameter reason: why such a child, which the request would have deleted or moved, is still there; nil if it is in the
    ///   way by itself, which is what counts where both are so.
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

    /// The living children that its deletion would leave without their parent, in order.
    private func orphans(of name: String, in reach: Reach) -> [String] {
        let unchanged = table.children(of: name).filter { saved[$0] == nil }
        return ((savedChildren[name] ?? []) + unchanged).filter { !reach.set.contains($0) }.sorted()
    }

    private func holders(of target: String) -> [String] {
        let unchanged = table.references.holders(of: target).filter { saved[$0] == nil }
        return (unchanged + (savedHolders[target] ?? [])).sorted()
    }
}
