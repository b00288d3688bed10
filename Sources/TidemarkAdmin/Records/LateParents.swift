// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkFields

/// Records whose parents come later in an input. They wait in memory, so there is room for a bounded number of them.
struct LateParents {
    private(set) var children: [RecordSave] = []
    private(set) var byteCount = 0
    /// How many may wait, and how many bytes of names and fields they may have.
    let countMax: Int
    let bytesMax: Int

    init(countMax: Int = 20_000, bytesMax: Int = 67_108_864) {
        self.countMax = countMax
        self.bytesMax = bytesMax
    }

    /// - Returns: false if there is no room.
    mutating func add(_ child: RecordSave) -> Bool {
        let bytes = child.name.utf8.count + child.fields.byteCount
        guard children.count < countMax, byteCount + bytes <= bytesMax else { return false }
        children.append(child)
        byteCount += bytes
        return true
    }

    /// All that wait. None waits afterwards.
    mutating func take() -> [RecordSave] {
        defer { (children, byteCount) = ([], 0) }
        return children
    }

    /// Why an input is not read further.
    var full: String {
        "More than \(countMax) records, or \(bytesMax / 1_048_576) MiB of them, wait for parents that come later. Sort the input "
            + "so that parents come before their children, and give the command again: it passes over what is saved."
    }
}
