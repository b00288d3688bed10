// SPDX-License-Identifier: Apache-2.0

internal import TidemarkBytes
internal import TidemarkCrypto
internal import TidemarkDomain

/// Decides which tokens are valid, and reads their claims. No clock, no network: the time and the keys are
/// parameters.
enum TokenRules {
    /// How much the clocks of provider and server may differ.
    static let skew = Timestamp(milliseconds: 60_000)
    static let subjectBytesMax = 255
    /// Tokens name few audiences. With more, one is refused.
    static let audiencesMax = 32
    /// The latest time that counts, in seconds: the year 9999.
    private static let secondsMax = 253_402_300_799.0

    /// Makes all checks that need no key, before a key is looked for.
    static func algorithm(of token: JSONWebToken, _ issuer: Issuer) throws(TokenRefusal) -> SignatureAlgorithm {
        guard let algorithm = SignatureAlgorithm(rawValue: token.algorithm), issuer.algorithms.contains(algorithm)
        else { throw .algorithmNotAllowed }
        guard !token.hasCriticalExtensions else { throw .extensionUnknown }
        if let type = token.type, !isKnown(type) { throw .typeUnknown }
        return algorithm
    }

    /// RFC 7515 §4.1.9: a media type in any case, with or without `application/`.
    private static func isKnown(_ type: String) -> Bool {
        var name = type.lowercased()[...]
        if name.hasPrefix("application/") { name = name.dropFirst("application/".count) }
        return name == "jwt" || name == "at+jwt"
    }

    /// Checks the claims of a token whose signature is right.
    static func holder(
        of token: JSONWebToken, _ issuer: Issuer, now: Timestamp
    ) throws(TokenRefusal) -> TokenClaims {
        let claims = token.claims
        guard isSame(token.issuer, issuer.name) else { throw .issuerUnknown }
        try checkAudience(claims, issuer)
        guard let expiry = try time("exp", of: claims) else { throw .malformed }
        let end = Timestamp(milliseconds: expiry + skew.milliseconds)
        guard end > now else { throw .expired }
        for name in ["nbf", "iat"] {
            guard let time = try time(name, of: claims) else { continue }
            guard time - skew.milliseconds <= now.milliseconds else { throw .notYetValid }
        }
        guard let subject = claims["sub"]?.text else { throw .malformed }
        guard (1...subjectBytesMax).contains(subject.utf8.count), isPlain(subject) else { throw .subjectInvalid }
        return TokenClaims(
            subject: subject, end: end, addresses: addresses(claims, issuer), roles: roles(claims, issuer))
    }

    private static func checkAudience(_ claims: JSONMembers, _ issuer: Issuer) throws(TokenRefusal) {
        let audiences: [String]
        switch claims["aud"] {
        case .text(let one): audiences = [one]
        case .list(let list) where list.count <= audiencesMax: audiences = list.compactMap(\.text)
        default: throw .malformed
        }
        guard audiences.contains(where: { one in issuer.audiences.contains { isSame($0, one) } }) else {
            throw .audienceWrong
        }
        // OpenID Connect Core §2: of several audiences, the one that asked for the token must be known. Access tokens name
        // none.
        guard let party = claims["azp"] else { return }
        guard let name = party.text else { throw .malformed }
        guard audiences.count == 1 || issuer.audiences.contains(where: { isSame($0, name) }) else {
            throw .partyWrong
        }
    }

    /// Milliseconds. A date may have a fraction (RFC 7519 §2).
    private static func time(_ name: String, of claims: JSONMembers) throws(TokenRefusal) -> Int64? {
        guard let value = claims[name] else { return nil }
        guard let seconds = value.number, (0...secondsMax).contains(seconds) else { throw .malformed }
        return Int64(seconds * 1_000)
    }

    /// Only addresses that the provider says it has verified.
    private static func addresses(_ claims: JSONMembers, _ issuer: Issuer) -> [PersonAddress] {
        var addresses: [PersonAddress] = []
        if issuer.trustsEmail, claims["email_verified"]?.flag == true, let text = claims["email"]?.text,
            isShort(text), let address = PersonAddress(email: text)
        {
            addresses.append(address)
        }
        if issuer.trustsPhone, claims["phone_number_verified"]?.flag == true, let text = claims["phone_number"]?.text,
            isShort(text), let address = PersonAddress(phone: text)
        {
            addresses.append(address)
        }
        return addresses
    }

    private static func isShort(_ text: String) -> Bool { text.utf8.count <= 255 && isPlain(text) }

    /// The roles that the token gives. Nil: the issuer's tokens have no roles.
    private static func roles(_ claims: JSONMembers, _ issuer: Issuer) -> Set<String>? {
        guard let rule = issuer.roles else { return nil }
        var place: JSONValue? = .object(claims)
        for name in rule.claim { place = place?.object?[name] }
        let values: [String] =
            switch place {
            case .text(let one): [one]
            case .list(let list): list.compactMap(\.text)
            default: []
            }
        return Set(values.compactMap { rule.byValue[$0] })
    }

    /// No control characters, which neither a database nor a terminal should get.
    private static func isPlain(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) }
    }

    /// Byte by byte: two ways to write a letter are two issuers.
    static func isSame(_ one: String, _ other: String) -> Bool { one.utf8.elementsEqual(other.utf8) }
}

/// The claims about the holder of a token that was verified.
struct TokenClaims: Sendable, Equatable {
    /// Unique with the issuer, and never given to somebody else.
    let subject: String
    /// When a session with it ends.
    let end: Timestamp
    let addresses: [PersonAddress]
    /// Roles in the issuer's containers. Nil: the token does not say.
    let roles: Set<String>?
}
