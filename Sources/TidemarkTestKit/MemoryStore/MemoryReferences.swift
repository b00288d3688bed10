// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain

/// The deleteSelf references of one zone, like PostgreSQL's table `record_reference`.
struct MemoryReferences {
    private var holdersByTarget: [String: Set<String>] = [:]
    private var targetsByHolder: [String: Set<String>] = [:]

    /// Sorted.
    func holders(of target: String) -> [String] { (holdersByTarget[target] ?? []).sorted() }

    mutating func write(_ changes: ReferenceChanges) {
        for holder in changes.dropped {
            for target in targetsByHolder.removeValue(forKey: holder) ?? [] {
                holdersByTarget[target]?.remove(holder)
            }
        }
        for reference in changes.added {
            holdersByTarget[reference.target, default: []].insert(reference.holder)
            targetsByHolder[reference.holder, default: []].insert(reference.target)
        }
    }
}
