// SPDX-License-Identifier: Apache-2.0

/// What a transaction changes about who holds deleteSelf references to whom. Empty for nearly all saves.
package struct ReferenceChanges: Sendable, Equatable {
    /// Holders all of whose references go; sorted. Those that hold other ones now are in ``added`` as well.
    package var dropped: [String]
    /// New references, by holder and target.
    package var added: [HeldReference]

    package init(dropped: [String] = [], added: [HeldReference] = []) {
        self.dropped = dropped
        self.added = added
    }

    package var isEmpty: Bool { dropped.isEmpty && added.isEmpty }
}

/// One record's wish to be deleted with another.
package struct HeldReference: Hashable, Sendable {
    package let holder: String
    package let target: String

    package init(holder: String, target: String) {
        self.holder = holder
        self.target = target
    }
}
