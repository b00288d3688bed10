// SPDX-License-Identifier: Apache-2.0

/// The names of a zone's records that a full fetch has brought. Each takes eight bytes, so a million of them take eight
/// megabytes.
///
/// It stores hashes. With a probability of 1 in 2^64 for each pair, a name that was not fetched is taken for one that
/// was. Then a record that is gone stays, or one that exists counts as absent.
/// record that is gone stays, or one that is there counts as absent.
struct FetchedNames: Sendable {
    private var hashes: [UInt64] = []
    /// Names that arrived and were removed again.
    private var removed: Set<UInt64> = []
    private var isSorted = true

    mutating func insert(_ name: String) {
        let hash = Self.hash(name)
        hashes.append(hash)
        removed.remove(hash)
        isSorted = false
    }

    /// The record no longer exists.
    mutating func remove(_ name: String) {
        removed.insert(Self.hash(name))
    }

    /// Call it before ``contains(_:)``.
    mutating func sort() {
        hashes.sort()
        isSorted = true
    }

    func contains(_ name: String) -> Bool {
        precondition(isSorted, "sort() comes first")
        let hash = Self.hash(name)
        guard !removed.contains(hash) else { return false }
        var (low, high) = (0, hashes.count)
        while low < high {
            let middle = (low + high) / 2
            if hashes[middle] < hash { low = middle + 1 } else { high = middle }
        }
        return low < hashes.count && hashes[low] == hash
    }

    /// FNV-1a of 64 bits.
    private static func hash(_ name: String) -> UInt64 {
        name.utf8.reduce(14_695_981_039_346_656_037) { ($0 ^ UInt64($1)) &* 1_099_511_628_211 }
    }
}
