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

    /// Those of the reach that would leave a living child without its parent, or take one along that would: from them
    /// back to the roots.
    func leadingToOrphans(_ reach: Reach) -> Set<String> {
        var found = Set(reach.names.filter { leavesOrphan($0, in: reach) })
        var waiting = Array(found)
        while let name = waiting.popLast() {
            for target in reach.targets[name] ?? [] where found.insert(target).inserted { waiting.append(target) }
        }
        return found
    }

    private func leavesOrphan(_ name: String, in reach: Reach) -> Bool {
        (savedChildren[name] ?? []).contains { !reach.set.contains($0) }
            || table.children(of: name).contains { saved[$0] == nil && !reach.set.contains($0) }
    }

    private func holders(of target: String) -> [String] {
        let unchanged = table.references.holders(of: target).filter { saved[$0] == nil }
        return (unchanged + (savedHolders[target] ?? [])).sorted()
    }
}
