// SPDX-License-Identifier: Apache-2.0

/// The names of a zone's records that a full fetch has brought: eight bytes each, so that a million of them take eight
/// megabytes.
///
/// Kept are hashes. A name that was not fetched may be taken for one that was, by an accident of 1 in 2^64 for each pair: then a
/// record that is gone stays, or one that is there counts as absent.
struct FetchedNames: Sendable {
    private var hashes: [UInt64] = []
    /// Of those that have come and gone again.
    private var removed: Set<UInt64> = []
    private var isSorted = true

    mutating func insert(_ name: String) {
        let hash = Self.hash(name)
        hashes.append(hash)
        removed.remove(hash)
        isSorted = false
    }

    /// It is not there any more.
    mutating func remove(_ name: String) {
        removed.insert(Self.hash(name))
    }

    /// To be called before ``contains(_:)``.
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
