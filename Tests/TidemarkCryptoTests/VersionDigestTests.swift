// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkBytes
import TidemarkCrypto

@Suite struct VersionDigestTests {
    /// The values of another implementation: what `sha256sum` says of the number's eight bytes and the name.
    @Test(arguments: [
        ("a", UInt64(1), "3b196fd4907bedf51c3090e9835f2f7c"),
        ("Þórður", 7, "2881b337e73307c943b24ddf2a9ae738"),
        (String(repeating: "a", count: 300), 1 << 40, "0e4ab1a4d228e25f68ada39ffde29b9f"),
    ])
    func `R-844: a version is the first half of SHA-256 of its number and name`(
        name: String, number: UInt64, hash: String
    ) {
        var digest = VersionDigest()
        digest.toggle(name, number)
        #expect(Hex.encode(digest.bytes) == hash)
        #expect(VersionDigest(high: digest.high, low: digest.low) == digest)
    }

    @Test func `R-844: one context hashes many versions, each as if it were alone`() {
        var hasher = VersionHasher()
        let names = ["", "a", "Þórður", String(repeating: "b", count: 64), String(repeating: "c", count: 300), "a"]
        for (number, name) in names.enumerated() {
            var (alone, among) = (VersionDigest(), VersionDigest())
            alone.toggle(name, UInt64(number))
            among.toggle(name, UInt64(number), with: &hasher)
            #expect(alone == among && alone != VersionDigest(), "\(name)")
        }
    }

    @Test func `R-844: what is added and removed leaves nothing, in any order`() {
        let versions = (0..<200).map { ("r\($0 % 50)", UInt64($0)) }
        var some = VersionDigest()
        for (name, number) in versions { some.toggle(name, number) }
        var others = VersionDigest()
        for (name, number) in versions.reversed() { others.toggle(name, number) }
        #expect(some == others && some != VersionDigest())
        // Another number, or another name, is another version.
        var (number, name) = (VersionDigest(), VersionDigest())
        number.toggle("r0", 1)
        name.toggle("r1", 0)
        #expect(number != name)
        for (name, number) in versions.shuffled() { some.toggle(name, number) }
        #expect(some == VersionDigest() && some.bytes == [UInt8](repeating: 0, count: VersionDigest.byteCount))
        some.combine(others)
        #expect(some == others)
    }
}
