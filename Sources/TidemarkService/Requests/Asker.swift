// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Somebody who waits for the outcomes of requests, such as a connection.
///
/// A write is no longer started once all its askers have left. A device that was started again may have
/// continued through another server. Its earlier requests must not come after that.
package final class Asker: Sendable {
    private let left = Atomic(false)

    package init() {}

    package var hasLeft: Bool { left.load(ordering: .relaxed) }

    /// Nobody hears the outcomes any more.
    package func leave() { left.store(true, ordering: .relaxed) }
}

/// Those who wait for one outcome. Nearly always it is one.
struct Askers: Sendable {
    private let first: Asker
    private var others: [Asker] = []

    init(_ first: Asker) { self.first = first }

    mutating func join(_ asker: Asker) {
        if asker !== first { others.append(asker) }
    }

    var haveLeft: Bool { first.hasLeft && others.allSatisfy(\.hasLeft) }
}
