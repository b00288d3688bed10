// SPDX-License-Identifier: Apache-2.0

internal import DequeModule

/// Lines of owners who take turns. It is like ``FairTurns``, but for very many owners. A line is found in a table, and its owner may have
/// several elements in one turn, or a part of one.
package struct FairLines<Owner: Hashable, Element> {
    /// None is empty.
    private var lines: [Owner: Deque<Element>] = [:]
    /// The owners of ``lines``. The first is next.
    private var turns: Deque<Owner> = []

    package init() {}

    package var isEmpty: Bool { lines.isEmpty }

    package func count(of owner: Owner) -> Int { lines[owner]?.count ?? 0 }

    /// The element that ``removeFirst(of:)`` removes.
    package func first(of owner: Owner) -> Element? { lines[owner]?.first }

    /// Adds an element at the end of its owner's line.
    package mutating func append(_ element: Element, of owner: Owner) {
        if lines[owner] == nil { turns.append(owner) }
        lines[owner, default: []].append(element)
    }

    /// The owner whose turn it is. The next call returns another one, if another has elements.
    package mutating func takeTurn() -> Owner? {
        guard let owner = turns.popFirst() else { return nil }
        turns.append(owner)
        return owner
    }

    @discardableResult
    package mutating func removeFirst(of owner: Owner) -> Element? {
        guard let element = lines[owner]?.popFirst() else { return nil }
        if lines[owner]?.isEmpty == true {
            lines[owner] = nil
            // After its turn it is the last.
            if let index = turns.lastIndex(of: owner) { turns.remove(at: index) }
        }
        return element
    }

    /// Takes an element of the owner whose turn it is.
    package mutating func popFirst() -> Element? {
        guard let owner = takeTurn() else { return nil }
        return removeFirst(of: owner)
    }
}

extension FairLines: Sendable where Owner: Sendable, Element: Sendable {}
