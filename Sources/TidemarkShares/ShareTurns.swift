// SPDX-License-Identifier: Apache-2.0

internal import DequeModule

/// A queue in which owners take turns. One owner's elements keep their order.
package struct ShareTurns<Element> {
    private var queues: [ShareOwner: Deque<Element>] = [:]
    /// The owners of elements; the first one is next.
    private var turns: Deque<ShareOwner> = []

    package init() {}

    package var isEmpty: Bool { turns.isEmpty }

    /// What ``popFirst()`` takes.
    package var first: Element? { turns.first.flatMap { queues[$0]?.first } }

    /// All elements, in no order of owners.
    package var elements: some Sequence<Element> { queues.values.lazy.joined() }

    package mutating func append(_ element: Element, of owner: ShareOwner) {
        if queues[owner, default: []].isEmpty { turns.append(owner) }
        queues[owner, default: []].append(element)
    }

    /// Puts an element back before all others of its owner, whose turn it is then.
    package mutating func prepend(_ element: Element, of owner: ShareOwner) {
        if queues[owner, default: []].isEmpty {
            turns.prepend(owner)
        } else if turns.first != owner, let turn = turns.firstIndex(of: owner) {
            turns.remove(at: turn)
            turns.prepend(owner)
        }
        queues[owner, default: []].prepend(element)
    }

    /// Takes the next element. The turn is then another owner's, if there is one.
    package mutating func popFirst() -> Element? {
        guard let owner = turns.popFirst(), let index = queues.index(forKey: owner) else { return nil }
        let element = queues.values[index].removeFirst()
        if queues.values[index].isEmpty {
            queues.remove(at: index)
        } else {
            turns.append(owner)
        }
        return element
    }

    package mutating func removeAll(where isGone: (Element) -> Bool) {
        for owner in turns {
            queues[owner]?.removeAll(where: isGone)
            if queues[owner]?.isEmpty == true { queues[owner] = nil }
        }
        turns.removeAll { queues[$0] == nil }
    }
}

extension ShareTurns: Sendable where Element: Sendable {}
