// SPDX-License-Identifier: Apache-2.0

/// The life of a device that made each change of a zone that a group of requests wrote, as
/// ``RecordsRequest/memoryLife``.
package struct ChangeMakers: Sendable {
    /// By growing number: the changes after the run before, up to this one.
    private let runs: [(end: ChangeNumber, life: DeviceID)]
    /// Records that several lives changed.
    private let contested: Set<String>

    package init(runs: [(end: ChangeNumber, life: DeviceID)] = [], contested: Set<String> = []) {
        self.runs = runs
        self.contested = contested
    }

    /// `nobody` if it is not known, or if several changed the record.
    package func maker(of record: RecordState) -> DeviceID {
        guard contested.isEmpty || !contested.contains(record.name) else { return .nobody }
        var (low, high) = (0, runs.count)
        while low < high {
            let middle = (low + high) / 2
            if runs[middle].end < record.changeNumber { low = middle + 1 } else { high = middle }
        }
        return low < runs.count ? runs[low].life : .nobody
    }
}
