// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkFields

@Suite struct SealedValueTests {
    private func sealed(_ number: UInt8) -> SealedValue {
        SealedValue(
            keyID: Array(repeating: number, count: 16), nonce: Array(repeating: 7, count: 12),
            ciphertext: Array(repeating: 9, count: 20))
    }

    @Test func `R-068: a sealed value is its version, key, nonce and ciphertext, and is read back`() {
        let value = sealed(3)
        #expect(
            value.bytes == [1] + Array(repeating: 3, count: 16) + Array(repeating: 7, count: 12)
                + Array(repeating: 9, count: 20))
        #expect(SealedValue(value.bytes) == value)
        // The shortest has a tag and no more.
        #expect(SealedValue(Array(value.bytes[..<45])) != nil)
        for count in 0..<45 { #expect(SealedValue(Array(value.bytes[..<count])) == nil) }
        #expect(SealedValue([2] + value.bytes.dropFirst()) == nil)
    }

    @Test func `R-067: a map tells with which keys its encrypted values are encrypted, each once`() throws {
        let plain = try FieldMap([Field("a", .string("x")), Field("b", .removed)])
        #expect(!plain.hasEncryptedValues)
        #expect(plain.sealingKeyIDs == [])
        let removed = try FieldMap([Field("a", .removed, isEncrypted: true)])
        #expect(!removed.hasEncryptedValues)
        #expect(removed.sealingKeyIDs == [])
        let map = try FieldMap([
            Field("a", .bytes(sealed(1).bytes), isEncrypted: true), Field("b", .bytes([1])),
            Field("c", .bytes(sealed(2).bytes), isEncrypted: true),
            Field("d", .bytes(sealed(1).bytes), isEncrypted: true), Field("e", .removed, isEncrypted: true),
        ])
        #expect(map.hasEncryptedValues)
        #expect(map.sealingKeyIDs == [sealed(1).keyID, sealed(2).keyID])
    }

    @Test func `R-067: what is said to be encrypted and is not, is told`() throws {
        for value in [.string("open"), .bytes([]), .bytes([1, 2, 3]), .emptyList, .int64(1)] as [FieldValue] {
            let map = try FieldMap([Field("a", value, isEncrypted: true)])
            #expect(map.hasEncryptedValues)
            #expect(map.sealingKeyIDs == nil, "\(value)")
        }
    }
}
