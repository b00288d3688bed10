// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// What happened, in order. Several tasks may append.
package final class TestLog<Element: Sendable>: Sendable {
    private let elements = Mutex<[Element]>([])

    package init() {}

    package func append(_ element: Element) { elements.withLock { $0.append(element) } }

    package var all: [Element] { elements.withLock { $0 } }
}
