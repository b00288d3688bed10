// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkBytes
import TidemarkCrypto

@Suite struct PublicKeyTests {
    /// RFC 7515 A.2 and A.3, RFC 8037 A.4: header, payload and signature, and the members of the key.
    struct Vector: Sendable {
        let algorithm: SignatureAlgorithm
        let key: [String]
        let token: String

        func publicKey() throws -> PublicKey {
            let bytes = try key.map { try #require(Base64.decodeURLSafe($0)) }
            let key: PublicKey? =
                switch algorithm {
                case .rs256: .rsa(modulus: bytes[0], exponent: bytes[1])
                case .es256: .p256(x: bytes[0], y: bytes[1])
                case .edDSA: .ed25519(bytes[0])
                }
            return try #require(key)
        }

        func parts() throws -> (content: [UInt8], signature: [UInt8]) {
            let dot = try #require(token.lastIndex(of: "."))
            return (
                Array(token[..<dot].utf8), try #require(Base64.decodeURLSafe(String(token[token.index(after: dot)...])))
            )
        }
    }

    private static let payload =
        "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"
    private static let modulus =
        "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZ"
        + "S-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2"
        + "R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcD"
        + "TW9gb54h4FRWyuXpoQ"

    private static let vectors = [
        Vector(
            algorithm: .rs256, key: [modulus, "AQAB"],
            token: "eyJhbGciOiJSUzI1NiJ9.\(payload)."
                + "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9"
                + "uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB"
                + "_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rq"
                + "Vt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw"),
        Vector(
            algorithm: .es256,
            key: ["f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU", "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"],
            token: "eyJhbGciOiJFUzI1NiJ9.\(payload)."
                + "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"),
        Vector(
            algorithm: .edDSA, key: ["11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"],
            token: "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc."
                + "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg"),
    ]

    @Test(arguments: vectors)
    func `R-920: published signatures are right, and wrong once a bit differs`(_ vector: Vector) throws {
        let key = try vector.publicKey()
        let (content, signature) = try vector.parts()
        #expect(key.algorithm == vector.algorithm)
        #expect(key.verify(signature, of: content))
        for index in signature.indices {
            var changed = signature
            changed[index] ^= 1
            #expect(!key.verify(changed, of: content))
        }
        for index in [0, content.count / 2, content.count - 1] {
            var changed = content
            changed[index] ^= 1
            #expect(!key.verify(signature, of: changed))
        }
        #expect(!key.verify([], of: content) && !key.verify(signature, of: []))
        #expect(!key.verify(signature + [0], of: content) && !key.verify([0] + signature, of: content))
        #expect(!key.verify(Array(signature.dropLast()), of: content))
        #expect(!key.verify([UInt8](repeating: 0, count: signature.count), of: content))
        #expect(!key.verify([UInt8](repeating: 0xFF, count: signature.count), of: content))
        #expect(key.verify(signature, of: content), "it can be asked again")
    }

    @Test func `R-920: no key verifies what another has signed`() throws {
        for vector in Self.vectors {
            let (content, signature) = try vector.parts()
            for other in Self.vectors where other.algorithm != vector.algorithm {
                #expect(try !other.publicKey().verify(signature, of: content))
            }
        }
    }

    @Test func `R-920: numbers that are no good RSA key are refused`() throws {
        let modulus = try #require(Base64.decodeURLSafe(Self.modulus))
        let exponent: [UInt8] = [1, 0, 1]
        #expect(PublicKey.rsa(modulus: modulus, exponent: exponent) != nil)
        #expect(PublicKey.rsa(modulus: [0, 0] + modulus, exponent: [0] + exponent) != nil, "zeros before it count not")
        func odd(bytes: Int) -> [UInt8] { [0x80] + [UInt8](repeating: 1, count: bytes - 1) }
        let bad: [(String, [UInt8], [UInt8])] = [
            ("too small", odd(bytes: 255), exponent),
            ("one bit too small", [0x7F] + odd(bytes: 256).dropFirst(), exponent),
            ("too large", odd(bytes: 1_025), exponent), ("even", Array(modulus.dropLast()) + [0], exponent),
            ("no modulus", [], exponent), ("zeros", [0, 0], exponent), ("no exponent", modulus, []),
            ("exponent 0", modulus, [0]), ("exponent 1", modulus, [1]), ("even exponent", modulus, [2]),
            ("a long exponent", modulus, [UInt8](repeating: 1, count: 9)),
        ]
        for (what, modulus, exponent) in bad {
            #expect(PublicKey.rsa(modulus: modulus, exponent: exponent) == nil, "\(what)")
        }
        #expect(PublicKey.rsa(modulus: odd(bytes: 256), exponent: exponent) != nil, "2048 bits")
        #expect(PublicKey.rsa(modulus: odd(bytes: 1_024), exponent: exponent) != nil, "8192 bits")
    }

    @Test func `R-920: a point that is not on the curve is no key`() throws {
        let bytes = try Self.vectors[1].key.map { try #require(Base64.decodeURLSafe($0)) }
        let (x, y) = (bytes[0], bytes[1])
        var wrong = y
        wrong[31] ^= 1
        #expect(PublicKey.p256(x: x, y: wrong) == nil)
        #expect(PublicKey.p256(x: [UInt8](repeating: 0, count: 32), y: [UInt8](repeating: 0, count: 32)) == nil)
        #expect(PublicKey.p256(x: [UInt8](repeating: 0xFF, count: 32), y: y) == nil)
        #expect(PublicKey.p256(x: Array(x.dropLast()), y: y) == nil && PublicKey.p256(x: [0] + x, y: y) == nil)
        #expect(PublicKey.ed25519([]) == nil && PublicKey.ed25519([UInt8](repeating: 1, count: 33)) == nil)
    }
}
