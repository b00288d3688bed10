// SPDX-License-Identifier: Apache-2.0

/// Timers by due time, then by age: a binary heap, so that equal times never depend on hashing.
struct TimerHeap {
    typealias Element = (due: Duration, id: UInt64)

    private var elements: [Element] = []

    var first: Element? { elements.first }

    mutating func insert(_ element: Element) {
        elements.append(element)
        var child = elements.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard Self.precedes(elements[child], elements[parent]) else { return }
            elements.swapAt(child, parent)
            child = parent
        }
    }

    mutating func removeFirst() {
        guard let last = elements.popLast(), !elements.isEmpty else { return }
        elements[0] = last
        var parent = 0
        while true {
            let children = [2 * parent + 1, 2 * parent + 2].filter { $0 < elements.count }
            guard let child = children.min(by: { Self.precedes(elements[$0], elements[$1]) }),
                Self.precedes(elements[child], elements[parent])
            else { return }
            elements.swapAt(child, parent)
            parent = child
        }
    }

    private static func precedes(_ left: Element, _ right: Element) -> Bool {
        left.due == right.due ? left.id < right.id : left.due < right.due
    }
}
