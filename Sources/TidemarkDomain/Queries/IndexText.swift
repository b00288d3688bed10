// SPDX-License-Identifier: Apache-2.0

/// A string as queries compare and index it: code points in UTF-8, ordered by their bytes (PostgreSQL's collation "C").
///
/// PostgreSQL's text cannot hold U+0000. So U+0000 and U+0001 are each written as two characters, in a way that keeps
/// order and prefixes.
package struct IndexText: Sendable, Hashable, Comparable {
    /// Valid UTF-8 without a zero byte.
    package let utf8: [UInt8]

    /// The most code points of ``sorting(_:)``. An index of PostgreSQL can always hold this many.
    package static let sortingScalarsMax = 256

    /// For order and BEGINSWITH: the string as it is written.
    package static func exact(_ string: String) -> IndexText { IndexText(escaping: string) }

    /// For equality, IN and CONTAINS: case does not matter, nor whether an accent is a code point of its own.
    package static func folded(_ string: String) -> IndexText { IndexText(escaping: TextFolding.caseless(string)) }

    /// For sorts: the beginning of ``exact(_:)``, so that positions and index entries stay small. Strings with the same
    /// beginning are ordered by their record names.
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

    /// The text as a string, for stores that take strings.
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
