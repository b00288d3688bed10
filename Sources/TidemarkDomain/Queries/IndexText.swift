// SPDX-License-Identifier: Apache-2.0

/// A string as it is compared and indexed: code points in UTF-8, ordered by their bytes (PostgreSQL's collation "C").
///
/// PostgreSQL's text has no U+0000, so U+0000 and U+0001 are written as two characters each, in a way that keeps the order
/// and what begins with what.
package struct IndexText: Sendable, Hashable, Comparable {
    /// Valid UTF-8 without a zero byte.
    package let utf8: [UInt8]

    /// Code points of ``sorting(_:)``: what an index of PostgreSQL can hold in any case.
    package static let sortingScalarsMax = 256

    /// For order and BEGINSWITH: as it is written.
    package static func exact(_ string: String) -> IndexText { IndexText(escaping: string) }

    /// For equality, IN and CONTAINS: whatever the case, and whether an accent is a code point of its own or not.
    package static func folded(_ string: String) -> IndexText { IndexText(escaping: TextFolding.caseless(string)) }

    /// For sorts: the beginning of ``exact(_:)``, so that positions and index entries stay small. Strings that are
    /// equal so far are in the order of their record names.
    package static func sorting(_ string: String) -> IndexText {
        var text = IndexText(escaping: String(string.unicodeScalars.prefix(sortingScalarsMax))).utf8
        var scalarCount = 0
        for (index, byte) in text.enumerated() where byte & 0xC0 != 0x80 {
            scalarCount += 1
            guard scalarCount > sortingScalarsMax else { continue }
            text.removeLast(text.count - index)
            break
        }
        return IndexText(utf8: text)
    }

    /// As a string, for a store that takes those.
    package var string: String { String(decoding: utf8, as: UTF8.self) }

    package func hasPrefix(_ prefix: IndexText) -> Bool { utf8.starts(with: prefix.utf8) }

    package static func < (left: Self, right: Self) -> Bool { left.utf8.lexicographicallyPrecedes(right.utf8) }

    init(utf8: [UInt8]) {
        self.utf8 = utf8
    }

    private init(escaping string: String) {
        let bytes = Array(string.utf8)
        guard bytes.contains(where: { $0 < 2 }) else {
            utf8 = bytes
            return
        }
        utf8 = bytes.flatMap { $0 < 2 ? [1, $0 + 1] : [$0] }
    }
}
