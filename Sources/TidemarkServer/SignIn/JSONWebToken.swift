// SPDX-License-Identifier: Apache-2.0

internal import TidemarkBytes
internal import TidemarkCrypto

/// A JSON Web Token in compact form (RFC 7515 §7.1, RFC 7519). It was read but not verified: its contents count only after the checks of
/// its signature and ``TokenRules``.
struct JSONWebToken: Sendable {
    /// A longer token is refused before anything of it is decoded.
    static let bytesMax = 16_384
    /// How deeply header and claims may be nested.
    private static let depthMax = 8

    let algorithm: String
    /// Nil: the token names no key.
    let keyID: String?
    /// Nil: none is named.
    let type: String?
    let hasCriticalExtensions: Bool
    let claims: JSONMembers
    let issuer: String
    /// The signed bytes: the first two parts with their dot.
    let signedBytes: [UInt8]
    let signature: [UInt8]

    /// Whether a credential has the form of a token: three parts. Credentials of ours have no dots.
    static func hasForm(_ credential: [UInt8]) -> Bool {
        credential.count { $0 == UInt8(ascii: ".") } == 2
    }

    init(_ bytes: [UInt8]) throws(TokenRefusal) {
        guard bytes.count <= Self.bytesMax else { throw .tooLong }
        let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3 else { throw .malformed }
        let header = try Self.object(parts[0])
        claims = try Self.object(parts[1])
        guard let algorithm = header["alg"]?.text, let issuer = claims["iss"]?.text else { throw .malformed }
        self.algorithm = algorithm
        self.issuer = issuer
        keyID = try Self.text("kid", of: header)
        type = try Self.text("typ", of: header)
        // NB: `jwk`, `jku`, `x5c` and `x5u` are not read. Otherwise the signer would choose the key.
        hasCriticalExtensions = header.member("crit") != nil
        signedBytes = Array(bytes[..<parts[1].endIndex])
        guard let signature = Self.decode(parts[2]) else { throw .malformed }
        self.signature = signature
    }

    private static func object(_ part: ArraySlice<UInt8>) throws(TokenRefusal) -> JSONMembers {
        guard let bytes = decode(part), let value = try? JSONReader.read(bytes, depthMax: depthMax),
            let object = value.object
        else { throw .malformed }
        return object
    }

    private static func text(_ name: String, of object: JSONMembers) throws(TokenRefusal) -> String? {
        guard let value = object[name] else { return nil }
        guard let text = value.text else { throw .malformed }
        return text
    }

    private static func decode(_ part: ArraySlice<UInt8>) -> [UInt8]? {
        Base64.decodeURLSafe(String(decoding: part, as: UTF8.self))
    }
}
