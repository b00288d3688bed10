// SPDX-License-Identifier: Apache-2.0

/// The ancestors that records of a request would have if its saves took place. All ancestors of new parents have been
/// read, so other reads of the group do not matter.
///
/// Only the saves change parents, so a line of records that are not saved is followed once.
///
/// Deletes are left out, because the parent of another record is never deleted.
struct ParentGraph {
    private let table: ZoneTable
    /// The names of all saves, also of those that are refused.
    private let names: Set<String>
    /// For each record that is not saved and was met: the next saved one up its line, or nil.
    private var nearest: [String: String?] = [:]
    private var saved: [String: RecordState] = [:]

    init(_ request: RecordsRequest, table: ZoneTable) {
        self.table = table
        names = Set(request.saves.map(\.name))
    }

    /// The saves that are not refused.
    mutating func take(_ saves: [RecordState]) {
        saved = Dictionary(saves.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// The record as it would be after the saves; nil if it would not exist.
    func record(_ name: String) -> RecordState? { saved[name] ?? table.living(name) }

    /// The nearest ancestor among the records that the request saves.
    private mutating func ancestor(of name: String) -> String? {
        var line: [String] = []
        var next = record(name)?.parent
        while let other = next, !names.contains(other) {
            if let known = nearest[other] {
                next = known
                break
            }
            // It ends a line that comes back to itself.
            nearest[other] = .some(nil)
            line.append(other)
            next = table.living(other)?.parent
        }
        for other in line { nearest[other] = .some(next) }
        return next
    }

    /// The saved records on the cycle of this one. It comes first, and each is an ancestor of the one before.
    mutating func cycle(from name: String) -> [String] {
        var cycle = [name]
        var next = ancestor(of: name)
        while let other = next, other != name {
            cycle.append(other)
            next = ancestor(of: other)
        }
        return cycle
    }

    /// The saved records that are on cycles. Visits each once.
    mutating func namesOnCycles() -> Set<String> {
        var pathOfName: [String: Int] = [:]
        var cyclic: Set<String> = []
        for (path, start) in saved.keys.enumerated() {
            var next: String? = start
            while let name = next, pathOfName[name] == nil {
                pathOfName[name] = path
                next = ancestor(of: name)
            }
            // The path came back to itself, so everything from here on is on the cycle.
            if let entry = next, pathOfName[entry] == path { cyclic.formUnion(cycle(from: entry)) }
        }
        return cyclic
    }
}
