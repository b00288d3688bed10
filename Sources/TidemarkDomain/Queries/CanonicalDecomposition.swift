// SPDX-License-Identifier: Apache-2.0

/// Unicode's normalization form D: precomposed characters are taken apart, and combining marks are in canonical order.
/// The standard library compares strings in this form but does not offer it, and this target has no Foundation.
enum CanonicalDecomposition {
    static func of(_ scalars: some Sequence<Unicode.Scalar>) -> [Unicode.Scalar] {
        var result: [Unicode.Scalar] = []
        for scalar in scalars { append(scalar, to: &result) }
        order(&result)
        return result
    }

    private static func append(_ scalar: Unicode.Scalar, to result: inout [Unicode.Scalar]) {
        // Nothing below U+00C0 has a decomposition.
        guard scalar.value >= 0xC0 else { return result.append(scalar) }
        if let syllable = HangulSyllable(scalar) { return result += syllable.parts }
        guard let parts = table[scalar.value] else { return result.append(scalar) }
        append(parts.0, to: &result)
        if let second = parts.1 { result.append(second) }
    }

    /// Sorts each run of combining marks by class. Marks of one class keep their order.
    private static func order(_ scalars: inout [Unicode.Scalar]) {
        var start = 0
        while start < scalars.count {
            guard combiningClass(scalars[start]) > 0 else {
                start += 1
                continue
            }
            let end = scalars[start...].firstIndex { combiningClass($0) == 0 } ?? scalars.count
            if end - start > 1 { sortMarks(&scalars, start..<end) }
            start = end
        }
    }

    private static func sortMarks(_ scalars: inout [Unicode.Scalar], _ range: Range<Int>) {
        let marks = range.map { (place: $0, rank: combiningClass(scalars[$0]), scalar: scalars[$0]) }
        let sorted = marks.sorted { ($0.rank, $0.place) < ($1.rank, $1.place) }
        for (index, mark) in zip(range, sorted) { scalars[index] = mark.scalar }
    }

    private static func combiningClass(_ scalar: Unicode.Scalar) -> UInt8 {
        scalar.value < 0x300 ? 0 : scalar.properties.canonicalCombiningClass.rawValue
    }

    private static let table: [UInt32: (Unicode.Scalar, Unicode.Scalar?)] = {
        var table: [UInt32: (Unicode.Scalar, Unicode.Scalar?)] = [:]
        for entry in CanonicalDecompositionTable.entries.utf8.split(separator: UInt8(ascii: ",")) {
            let numbers = entry.split(separator: UInt8(ascii: " ")).compactMap { UInt32(String($0) ?? "", radix: 16) }
            guard numbers.count >= 2, let first = Unicode.Scalar(numbers[1]) else { continue }
            table[numbers[0]] = (first, numbers.count > 2 ? Unicode.Scalar(numbers[2]) : nil)
        }
        return table
    }()
}

/// Unicode §3.12: syllables are decomposed by arithmetic.
private struct HangulSyllable {
    let index: UInt32

    init?(_ scalar: Unicode.Scalar) {
        guard (0xAC00..<0xAC00 + 11_172).contains(scalar.value) else { return nil }
        index = scalar.value - 0xAC00
    }

    var parts: [Unicode.Scalar] {
        let numbers = [0x1100 + index / 588, 0x1161 + index % 588 / 28] + (index % 28 > 0 ? [0x11A7 + index % 28] : [])
        return numbers.compactMap(Unicode.Scalar.init)
    }
}
