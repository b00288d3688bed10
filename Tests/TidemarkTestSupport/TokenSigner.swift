// SPDX-License-Identifier: Apache-2.0

internal import CTidemarkOpenSSL
internal import Foundation

/// An identity provider of a test's own: signs tokens with a new Ed25519 key, now and with any claims.
package final class TokenSigner: @unchecked Sendable {
    package let keyID: String
    package let issuer: String
    package let audience: String
    private let key: OpaquePointer

    package init(keyID: String = "key", issuer: String = "https://login.example.org", audience: String = "tidemark") {
        self.keyID = keyID
        self.issuer = issuer
        self.audience = audience
        guard let key = newEd25519Key() else { preconditionFailure("libcrypto has Ed25519") }
        self.key = key
    }

    deinit { EVP_PKEY_free(key) }

    /// A set with the public key.
    package var keys: [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 32)
        var count = bytes.count
        let status = EVP_PKEY_get_raw_public_key(key, &bytes, &count)
        precondition(status == 1 && count == 32)
        return Array(
            #"{"keys":[{"kty":"OKP","crv":"Ed25519","kid":"\#(keyID)","x":"\#(Self.encode(bytes))"}]}"#.utf8)
    }

    /// The file of `--issuers` in a directory, with the provider's keys beside it. Who signs in first gets an account.
    ///
    /// - Parameter members: further members of the provider, such as `"trust-email":true`.
    package func issuersFile(in directory: TestDirectory, _ members: String...) throws -> String {
        let (keysFile, file) = ("\(directory.path)/keys.json", "\(directory.path)/issuers.json")
        try Data(keys).write(to: URL(fileURLWithPath: keysFile))
        let all =
            [
                #""issuer":"\#(issuer)""#, #""audience":"\#(audience)""#, #""jwks-file":"\#(keysFile)""#,
                #""create-accounts":true"#, #""account-prefix":"example:""#,
            ] + members
        try Data("[{\(all.joined(separator: ","))}]".utf8).write(to: URL(fileURLWithPath: file))
        return file
    }

    /// A token in compact form.
    ///
    /// - Parameters:
    ///   - lifetime: seconds from now; negative: it has expired.
    ///   - claims: members of JSON beside `iss`, `aud`, `sub`, `iat` and `exp`, such as `"email":"a@b"`.
    package func token(_ subject: String, lifetime: Int = 3_600, _ claims: String...) -> String {
        token(subject, lifetime: lifetime, claims: claims)
    }

    /// The same, with a list of claims: members of a JSON object.
    package func token(_ subject: String, lifetime: Int = 3_600, claims: [String]) -> String {
        let now = Int(Date().timeIntervalSince1970)
        let body =
            [
                #""iss":"\#(issuer)""#, #""aud":"\#(audience)""#, #""sub":"\#(subject)""#, #""iat":\#(now - 1)"#,
                #""exp":\#(now + lifetime)"#,
            ] + claims
        let head = Self.encode(Array(#"{"alg":"EdDSA","kid":"\#(keyID)"}"#.utf8))
        let signed = head + "." + Self.encode(Array("{\(body.joined(separator: ","))}".utf8))
        return signed + "." + Self.encode(sign(Array(signed.utf8)))
    }

    private func sign(_ content: [UInt8]) -> [UInt8] {
        guard let context = EVP_MD_CTX_new() else { preconditionFailure("there is memory for it") }
        defer { EVP_MD_CTX_free(context) }
        var signature = [UInt8](repeating: 0, count: 64)
        var count = signature.count
        let isSigned =
            EVP_DigestSignInit(context, nil, nil, nil, key) == 1
            && EVP_DigestSign(context, &signature, &count, content, content.count) == 1
        precondition(isSigned && count == 64)
        return signature
    }

    private static func encode(_ bytes: [UInt8]) -> String {
        Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}

/// Nil: there is no memory for it.
private func newEd25519Key() -> OpaquePointer? {
    guard let context = EVP_PKEY_CTX_new_id(EVP_PKEY_ED25519, nil) else { return nil }
    defer { EVP_PKEY_CTX_free(context) }
    var key: OpaquePointer?
    guard EVP_PKEY_keygen_init(context) == 1, EVP_PKEY_keygen(context, &key) == 1 else { return nil }
    return key
}
