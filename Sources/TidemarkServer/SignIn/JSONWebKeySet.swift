// SPDX-License-Identifier: Apache-2.0

internal import TidemarkBytes
internal import TidemarkCrypto

/// The public keys of an issuer (RFC 7517 §5). Keys that cannot verify tokens are left out: other types, other uses, private
/// and secret ones, and keys that are too small.
struct JSONWebKeySet: Sendable {
    /// The most bytes of the text.
    static let bytesMax = 262_144
    /// The most keys. A longer list is refused as a whole.
    static let keysMax = 100

    /// The reason why a text is not a usable set of keys.
    enum Problem: String, Error {
        case tooLong = "the set of keys has more than 262144 bytes"
        case malformed = "this is no set of keys: an object with a list named keys"
        case tooManyKeys = "the set has more than 100 keys"
        case noKeys = "the set has no key for RS256, ES256 or EdDSA"
    }

    struct Entry: Sendable {
        /// Nil: it has none.
        let id: String?
        let key: PublicKey
    }

    let entries: [Entry]

    init(_ bytes: [UInt8]) throws(Problem) {
        guard bytes.count <= Self.bytesMax else { throw .tooLong }
        guard let value = try? JSONReader.read(bytes), let keys = value.object?["keys"]?.list else { throw .malformed }
        guard keys.count <= Self.keysMax else { throw .tooManyKeys }
        let entries = keys.compactMap { $0.object.flatMap(Self.entry) }
        guard !entries.isEmpty else { throw .noKeys }
        self.entries = entries
    }

    /// The keys with which a token may be signed. A token that names no key may be of any.
    func candidates(id: String?, _ algorithm: SignatureAlgorithm) -> [PublicKey] {
        entries.filter { entry in
            guard entry.key.algorithm == algorithm else { return false }
            guard let id else { return true }
            return entry.id.map { $0.utf8.elementsEqual(id.utf8) } ?? false
        }
        .map(\.key)
    }

    /// RFC 7517 §5: unknown members are ignored.
    private static func entry(_ object: JSONMembers) -> Entry? {
        if let use = object["use"], use.text != "sig" { return nil }
        if let operations = object["key_ops"] {
            guard operations.list?.contains(.text("verify")) == true else { return nil }
        }
        // A private key in a public place is everybody's.
        guard object.member("d") == nil, let key = key(object) else { return nil }
        if let algorithm = object["alg"], algorithm.text != key.algorithm.rawValue {
            // RFC 9864 names the curve.
            guard algorithm.text == "Ed25519", key.algorithm == .edDSA else { return nil }
        }
        guard let id = object["kid"] else { return Entry(id: nil, key: key) }
        return id.text.map { Entry(id: $0, key: key) }
    }

    private static func key(_ object: JSONMembers) -> PublicKey? {
        func bytes(_ name: String) -> [UInt8]? { object[name]?.text.flatMap { Base64.decodeURLSafe($0) } }
        switch (object["kty"]?.text, object["crv"]?.text) {
        case ("RSA", nil):
            guard let modulus = bytes("n"), let exponent = bytes("e") else { return nil }
            return .rsa(modulus: modulus, exponent: exponent)
        case ("EC", "P-256"):
            guard let x = bytes("x"), let y = bytes("y") else { return nil }
            return .p256(x: x, y: y)
        case ("OKP", "Ed25519"): return bytes("x").flatMap { .ed25519($0) }
        default: return nil
        }
    }
}
