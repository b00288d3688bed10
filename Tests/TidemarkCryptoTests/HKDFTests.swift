// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkBytes
import TidemarkCrypto

@Suite struct HKDFTests {
    private static func bytes(_ digits: String) throws -> [UInt8] { try #require(Hex.decode(digits)) }

    /// RFC 4231 §4.2, §4.3 and §4.7, whose key is longer than a block.
    @Test(arguments: [
        (
            String(repeating: "0b", count: 20), "4869205468657265",
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
        ),
        (
            "4a656665", "7768617420646f2079612077616e7420666f72206e6f7468696e673f",
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        ),
        (
            String(repeating: "aa", count: 131),
            "54657374205573696e67204c6172676572205468616e20426c6f636b2d53697a65204b6579202d2048617368204b6579204669727374",
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        ),
    ])
    func `HMAC-SHA-256 has the values of RFC 4231`(key: String, message: String, code: String) throws {
        #expect(Hex.encode(HMACSHA256.code(of: try Self.bytes(message), key: try Self.bytes(key))) == code)
    }

    /// RFC 5869 A.1 and A.3, which has no salt.
    @Test(arguments: [
        (
            "000102030405060708090a0b0c", "f0f1f2f3f4f5f6f7f8f9",
            "077709362c2e32df0ddc3f0dc47bba6390b6c73bb50f9c3122ec844ad7c2b3e5",
            "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865"
        ),
        (
            "", "", "19ef24a32c717b167f33a91d6f648bdf96596776afdb6377ac434c1c293ccb04",
            "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8"
        ),
    ])
    func `HKDF-SHA-256 has the values of RFC 5869`(salt: String, info: String, key: String, made: String) throws {
        let secret = [UInt8](repeating: 0x0B, count: 22)
        let extracted = HKDFSHA256.extract(secret, salt: try Self.bytes(salt))
        #expect(Hex.encode(extracted) == key)
        #expect(Hex.encode(HKDFSHA256.expand(extracted, info: try Self.bytes(info), byteCount: 42)) == made)
    }

    @Test func `what is made is as long as asked, and a shorter one is its beginning`() {
        let key = [UInt8](repeating: 1, count: 32)
        let longest = HKDFSHA256.expand(key, info: [2], byteCount: HKDFSHA256.byteCountMax)
        #expect(longest.count == HKDFSHA256.byteCountMax)
        for count in [0, 1, 31, 32, 33, 64, 100] {
            #expect(HKDFSHA256.expand(key, info: [2], byteCount: count) == Array(longest.prefix(count)))
        }
    }
}
