// SPDX-License-Identifier: Apache-2.0

/// How a transaction changes deleteSelf references. Empty for nearly all saves.
package struct ReferenceChanges: Sendable, Equatable {
    /// Sorted records whose stored references are all removed. Their new references, if any, are in ``added``.
    package var dropped: [String]
    /// New references, by holder and target.
    package var added: [HeldReference]

    package init(dropped: [String] = [], added: [HeldReference] = []) {
        self.dropped = dropped
        self.added = added
    }

    package var isEmpty: Bool { dropped.isEmpty && added.isEmpty }
}

/// A deleteSelf reference: its holder is deleted with its target.
package struct HeldReference: Hashable, Sendable {
    package let holder: String
    package let target: String

    package init(holder: String, target: String) {
        self.holder = holder
        self.target = target
    }
}
