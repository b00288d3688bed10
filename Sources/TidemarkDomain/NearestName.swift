// SPDX-License-Identifier: Apache-2.0

/// Finds the name that a mistyped one probably stands for.
package enum NearestName {
    /// I-7: bounds the work. Longer names are not compared, and only this many names of similar length are.
    private static let bytesMax = 64
    private static let candidatesMax = 1_000
    /// Pairs of bytes that are compared: in a millisecond or two.
    private static let pairsMax = 262_144

    /// - Returns: the name that takes the fewest changes: a byte inserted, deleted or replaced, or two bytes swapped.
    ///   Case is ignored. If several names are equally near, the first in alphabetical order. Nil if the nearest
    ///   differs in more than a quarter of its bytes, or if the name is very long.
    package static func of(_ name: String, among names: some Sequence<String>) -> String? {
        let wanted = Array(name.lowercased().utf8)
        guard wanted.count <= bytesMax else { return nil }
        // A name of one or two letters has no nearest one: one change is half of it.
        let most = wanted.count < 3 ? 0 : max(1, wanted.count / 4)
        var nearest: (distance: Int, name: String)?
        var (candidatesLeft, pairsLeft) = (candidatesMax, pairsMax)
        for candidate in names {
            let bytes = Array(candidate.lowercased().utf8)
            guard abs(bytes.count - wanted.count) <= most else { continue }
            guard candidatesLeft > 0, pairsLeft > 0 else { break }
            candidatesLeft -= 1
            pairsLeft -= wanted.count * bytes.count
            let distance = distance(wanted, bytes)
            guard distance <= most else { continue }
            if let nearest, (nearest.distance, nearest.name) <= (distance, candidate) { continue }
            nearest = (distance, candidate)
        }
        return nearest?.name
    }

    /// Optimal string alignment. It needs only three rows of the table.
    private static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var (older, old) = ([Int](), Array(0...right.count))
        for row in 0..<left.count {
            var new = [row + 1]
            for column in 0..<right.count {
                let isSame = left[row] == right[column]
                var best = min(old[column] + (isSame ? 0 : 1), old[column + 1] + 1, new[column] + 1)
                if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
                    best = min(best, older[column - 1] + 1)
                }
                new.append(best)
            }
            (older, old) = (old, new)
        }
        return old[right.count]
    }
}
