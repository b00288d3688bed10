// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkScheduling
internal import TidemarkSockets
internal import TidemarkTLS

/// A token that counts.
struct VerifiedToken: Sendable {
    let issuer: Issuer
    let claims: TokenClaims
}

/// Verifies tokens of a server's issuers. All event loops of a server share it. Their keys are fetched on a separate thread.
final class TokenVerifier: Sendable {
    private let loop: EventLoop
    private let issuers: [IssuerKeys]

    /// Begins to fetch keys.
    ///
    /// - Throws: ``ServerError`` with `issuersUnusable` or `resourcesExhausted`.
    init(_ issuers: [Issuer]) throws(ServerError) {
        var contexts: [TLSContext?] = []
        for issuer in issuers { contexts.append(try Self.context(of: issuer)) }
        do {
            loop = try EventLoop(name: "tidemark-tokens")
        } catch {
            throw ServerError(.resourcesExhausted, detail: "\(error)", underlying: error)
        }
        self.issuers = zip(issuers, contexts).map { [loop] in IssuerKeys($0, tls: $1, loop: loop) }
        for issuer in self.issuers { issuer.start() }
    }

    /// Nil: no address of the issuer needs one.
    private static func context(of issuer: Issuer) throws(ServerError) -> TLSContext? {
        if case .file = issuer.keys { return nil }
        do {
            return try TLSContext(client: .init(additionalRootsFile: issuer.authorityFile))
        } catch {
            throw ServerError(
                .issuersUnusable,
                detail: "The ca of \(issuer.name) must be a PEM file that the user of the server can read. "
                    + error.debugDescription, underlying: error)
        }
    }

    /// The claims of the token, if it is valid now. It may wait for keys, for at most some seconds.
    func verify(_ credential: [UInt8], now: Timestamp) async throws(TokenRefusal) -> VerifiedToken {
        let token = try JSONWebToken(credential)
        guard let keys = issuers.first(where: { TokenRules.isSame($0.issuer.name, token.issuer) }) else {
            throw .issuerUnknown
        }
        let algorithm = try TokenRules.algorithm(of: token, keys.issuer)
        try await keys.check(token, algorithm)
        return VerifiedToken(issuer: keys.issuer, claims: try TokenRules.holder(of: token, keys.issuer, now: now))
    }

    /// Ends the thread. Tokens that wait for keys are refused. Call it once.
    func stop() {
        for issuer in issuers { issuer.stop() }
        loop.stop()
    }
}
