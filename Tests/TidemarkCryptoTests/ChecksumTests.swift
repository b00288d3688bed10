// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkBytes
import TidemarkCrypto

@Suite struct ChecksumTests {
    /// The first is test case 1 of the GCM specification, the others are of `openssl mac`.
    @Test(arguments: [
        ("", 1, "58e2fccefa7e3061367f1d57a4e7455a"),
        ("Tidemark", 1, "cb125e92e7807ab0edcdbeba4862b68d"),
        ("a", 100_000, "acc51fadba7a2025f8f593520bb46ca8"),
    ])
    func `a checksum is GMAC, in one piece and in any two`(text: String, count: Int, checksum: String) {
        let bytes = Array(String(repeating: text, count: count).utf8)
        for split in [0, 1, 5, 8, 16, 17, 4_096, 99_999, 100_000] where split <= bytes.count {
            var sum = Checksum()
            sum.update(Array(bytes[..<split]))
            sum.update(Array(bytes[split...]))
            #expect(Hex.encode(sum.finish()) == checksum, "\(split)")
        }
    }
}
