// SPDX-License-Identifier: Apache-2.0

/// Some of a zone's changes, by number: what lies between a number and another, several times. A pure value.
package struct ChangeRanges: Sendable, Equatable {
    /// The changes after one number, up to another.
    package struct Part: Sendable, Hashable {
        package let after: ChangeNumber
        package let upTo: ChangeNumber

        package init(after: ChangeNumber, upTo: ChangeNumber) {
            self.after = after
            self.upTo = upTo
        }
    }

    /// The most parts. If there are more, the lowest is forgotten (I-7). A reader that misses changes takes them for
    /// lost.
    package static let partsMax = 256

    /// Ascending, with changes between them that are not in here.
    package private(set) var parts: [Part] = []

    package init() {}

    package var isEmpty: Bool { parts.isEmpty }

    /// Adds changes. Some of them may be in here already.
    package mutating func insert(_ part: Part) {
        guard part.upTo > part.after else { return }
        // Most come in order, so the search begins at the end.
        var start = parts.count
        while start > 0, parts[start - 1].upTo >= part.after { start -= 1 }
        var end = start
        while end < parts.count, parts[end].after <= part.upTo { end += 1 }
        let touched = parts[start..<end]
        let whole = Part(
            after: min(part.after, touched.first?.after ?? part.after),
            upTo: max(part.upTo, touched.last?.upTo ?? part.upTo))
        parts.replaceSubrange(start..<end, with: [whole])
        if parts.count > Self.partsMax { parts.removeFirst() }
    }

    /// Removes all changes up to where they are in here without a gap after a number.
    ///
    /// - Returns: that end; the number itself if the next change is not in here.
    package mutating func takeAll(after number: ChangeNumber) -> ChangeNumber {
        var end = number
        while let first = parts.first, first.after <= end {
            end = max(end, first.upTo)
            parts.removeFirst()
        }
        return end
    }
}
