// SPDX-License-Identifier: Apache-2.0

public import DequeModule

/// A queue in which owners take turns. One owner's elements keep their order.
///
/// Owners are searched one by one: mostly there is one, and there are never more than works that wait.
@usableFromInline
package struct FairTurns<Owner: Equatable, Element> {
    @usableFromInline
    struct Queue {
        @usableFromInline let owner: Owner
        @usableFromInline var elements: Deque<Element>

        @inlinable
        init(owner: Owner, elements: Deque<Element>) {
            self.owner = owner
            self.elements = elements
        }
    }

    /// None is empty. The first one is next.
    @usableFromInline var queues: Deque<Queue> = []

    @inlinable package init() {}

    @inlinable package var isEmpty: Bool { queues.isEmpty }

    /// The element that ``popFirst()`` takes.
    @inlinable package var first: Element? { queues.first?.elements.first }

    /// The element that ``popFirst(where:)`` takes.
    @inlinable
    package func first(where mayHave: (Owner) -> Bool) -> Element? {
        queues.first { mayHave($0.owner) }?.elements.first
    }

    /// All elements, owner by owner.
    @inlinable package var elements: [Element] { queues.flatMap(\.elements) }

    @inlinable
    package func contains(where isWanted: (Element) -> Bool) -> Bool {
        queues.contains { $0.elements.contains(where: isWanted) }
    }

    @inlinable
    package mutating func append(_ element: Element, of owner: Owner) {
        if let index = queues.firstIndex(where: { $0.owner == owner }) {
            queues[index].elements.append(element)
        } else {
            queues.append(Queue(owner: owner, elements: [element]))
        }
    }

    /// Puts an element back before all others of its owner, who then has the next turn.
    @inlinable
    package mutating func prepend(_ element: Element, of owner: Owner) {
        var queue = Queue(owner: owner, elements: [])
        if let index = queues.firstIndex(where: { $0.owner == owner }) { queue = queues.remove(at: index) }
        queue.elements.prepend(element)
        queues.prepend(queue)
    }

    /// Takes the next element. The turn is then another owner's, if there is one.
    @inlinable
    package mutating func popFirst() -> Element? { popFirst { _ in true }?.element }

    /// Takes the next element, among owners for whom `mayHave` is true.
    @inlinable
    package mutating func popFirst(where mayHave: (Owner) -> Bool) -> (element: Element, owner: Owner)? {
        guard let index = queues.firstIndex(where: { mayHave($0.owner) }) else { return nil }
        let owner = queues[index].owner
        let element = queues[index].elements.removeFirst()
        if queues[index].elements.isEmpty {
            queues.remove(at: index)
        } else if queues.count > 1 {
            queues.append(queues.remove(at: index))
        }
        return (element, owner)
    }

    /// In the order of their turns.
    @inlinable package var owners: [Owner] { queues.map(\.owner) }

    /// Whether something waits for one of these owners.
    @inlinable
    package func hasOwner(where isWanted: (Owner) -> Bool) -> Bool {
        queues.contains { isWanted($0.owner) }
    }

    /// Removes the first of an owner's elements that is gone. The turns keep their order.
    @inlinable
    package mutating func removeFirst(of owner: Owner, where isGone: (Element) -> Bool) {
        guard let index = queues.firstIndex(where: { $0.owner == owner }),
            let place = queues[index].elements.firstIndex(where: isGone)
        else { return }
        queues[index].elements.remove(at: place)
        if queues[index].elements.isEmpty { queues.remove(at: index) }
    }

    @inlinable
    package mutating func removeAll(where isGone: (Element) -> Bool) {
        for index in queues.indices { queues[index].elements.removeAll(where: isGone) }
        queues.removeAll { $0.elements.isEmpty }
    }
}

extension FairTurns: Sendable where Owner: Sendable, Element: Sendable {}
extension FairTurns.Queue: Sendable where Owner: Sendable, Element: Sendable {}
