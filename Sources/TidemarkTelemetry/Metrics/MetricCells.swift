// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Numbers that any thread changes, without a lock. Changes are relaxed: each number is right, but two of them may not
/// be of the same moment.
///
/// Sendable: the memory lives as long as the object, and all of it is atomic.
final class MetricCells: @unchecked Sendable {
    private let cells: UnsafeMutablePointer<Atomic<Int>>
    let count: Int

    init(count: Int) {
        self.count = count
        cells = .allocate(capacity: count)
        for index in 0..<count { (cells + index).initialize(to: Atomic(0)) }
    }

    deinit {
        cells.deinitialize(count: count)
        cells.deallocate()
    }

    subscript(index: Int) -> Int {
        precondition(0..<count ~= index, "a label has a place")
        return cells[index].load(ordering: .relaxed)
    }

    /// - Returns: the number after that.
    @discardableResult
    func add(_ amount: Int, at index: Int) -> Int {
        precondition(0..<count ~= index, "a label has a place")
        return cells[index].wrappingAdd(amount, ordering: .relaxed).newValue
    }

    func set(_ value: Int, at index: Int) {
        precondition(0..<count ~= index, "a label has a place")
        cells[index].store(value, ordering: .relaxed)
    }
}
