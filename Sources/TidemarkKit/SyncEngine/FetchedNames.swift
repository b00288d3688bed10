// SPDX-License-Identifier: Apache-2.0

/// The names of a zone's records that a full fetch has brought. Each takes about 16 bytes, so a million of them take 16
/// megabytes.
///
/// It stores hashes. With a probability of 1 in 2^64 for each pair, a name that was not fetched is taken for one that
/// was. Then a record that is gone stays.
struct FetchedNames: Sendable {
    private var hashes: Set<UInt64> = []

    mutating func insert(_ name: String) {
        hashes.insert(Self.hash(name))
    }

    func contains(_ name: String) -> Bool {
        hashes.contains(Self.hash(name))
    }

    /// FNV-1a of 64 bits.
    private static func hash(_ name: String) -> UInt64 {
        name.utf8.reduce(14_695_981_039_346_656_037) { ($0 ^ UInt64($1)) &* 1_099_511_628_211 }
    }
}
