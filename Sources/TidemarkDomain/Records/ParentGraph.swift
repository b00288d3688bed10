// SPDX-License-Identifier: Apache-2.0

/// Which records would be whose parents if the saves took place. All ancestors of new parents have been read, so it
/// does not matter what other requests of the group have read besides.
///
/// Deletes are left out, because a record that is somebody's parent is never deleted.
struct ParentGraph {
    let saved: [String: RecordState]
    let table: ZoneTable

    init(saves: [RecordState], table: ZoneTable) {
        saved = Dictionary(saves.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        self.table = table
    }

    /// The record as it would be after the saves; nil if it would not exist.
    func record(_ name: String) -> RecordState? { saved[name] ?? table.living(name) }

    /// The records on the cycle of this record. It comes first, and each is the parent of the one before.
    func cycle(from name: String) -> [String] {
        var names = [name]
        while let parent = names.last.flatMap({ record($0)?.parent }), parent != name { names.append(parent) }
        return names
    }

    /// The records that are on cycles. Follows the parents of each saved record, each record once.
    var namesOnCycles: Set<String> {
        var pathOfName: [String: Int] = [:]
        var cyclic: Set<String> = []
        for (path, start) in saved.keys.enumerated() {
            var next: String? = start
            while let name = next, pathOfName[name] == nil {
                pathOfName[name] = path
                next = record(name)?.parent
            }
            // The path came back to itself, so everything from here on is on the cycle.
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
