// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkScheduling
internal import TidemarkSessions
internal import TidemarkStore
internal import TidemarkTelemetry

/// Signs in clients with a token of an identity provider: the part on one event loop, with its connections to the store.
final class TokenDoor: TokenJudge {
    private let verifier: TokenVerifier
    private let storage: PostgresStorage

    init(_ verifier: TokenVerifier, _ storage: PostgresStorage) {
        self.verifier = verifier
        self.storage = storage
    }

    func judge(_ credential: [UInt8], now: Timestamp) async -> TokenVerdict {
        guard JSONWebToken.hasForm(credential) else { return .noToken }
        do {
            return .accepted(TokenGuest(try await verifier.verify(credential, now: now), storage))
        } catch {
            TokenMetrics.shared.refused.increment(error)
            switch error {
            case .keysUnavailable: return .unavailable(error.explanation)
            case .signerUnknown: return .undecided(error.explanation)
            case .expired: return .refused(.credentialExpired, error.explanation)
            default: return .refused(.tokenInvalid, error.explanation)
            }
        }
    }
}

/// Somebody whose token counts.
private struct TokenGuest: TokenHolder {
    let issuer: Issuer
    let claims: TokenClaims
    let storage: PostgresStorage
    let key: [UInt8]

    init(_ token: VerifiedToken, _ storage: PostgresStorage) {
        (issuer, claims, self.storage) = (token.issuer, token.claims, storage)
        key = IdentityKey.bytes(issuer: token.issuer.name, subject: token.claims.subject)
    }

    var end: Timestamp { claims.end }

    private var identity: StoredIdentity {
        StoredIdentity(issuer: issuer.name, subject: claims.subject, key: key)
    }

    func makeAccount() async -> Bool? {
        guard issuer.createsAccounts else { return false }
        do {
            let isMade = try await storage.createAccount(
                for: identity,
                named: NewAccountName.names(prefix: issuer.accountPrefix, subject: claims.subject, key: key))
            if isMade { TokenMetrics.shared.accounts.increment() }
            return true
        } catch {
            note("an account of a token was not created", error)
            return nil
        }
    }

    /// An address that is not stored now is stored at the next sign-in: the session still opens.
    func settle(as identity: Identity, in container: ContainerKey) async -> Bool {
        guard await storeRoles(of: identity, in: container) else { return false }
        for address in claims.addresses { await claim(address, for: identity.account) }
        return true
    }

    private func storeRoles(of identity: Identity, in container: ContainerKey) async -> Bool {
        guard let rule = issuer.roles, let roles = claims.roles,
            rule.containers.contains(where: { TokenRules.isSame($0, container.identifier) })
        else { return true }
        do {
            try await storage.setRoles(roles, among: Set(rule.byValue.values), of: identity.user)
            return true
        } catch {
            note("the roles that a token gives were not stored", error)
            return false
        }
    }

    private func claim(_ address: PersonAddress, for account: AccountID) async {
        do {
            guard try await !storage.claim(address, for: account) else { return }
            FailureLog.shared.note(
                .info, "an address of a token belongs to another account", cause: "it is left there",
                [
                    "account": "\(account.rawValue)",
                    "advice": "if it is this account's: tidemark admin addresses delete, then create",
                ], request: nil)
        } catch {
            note("an address of a token was not stored", error)
        }
    }

    private func note(_ text: StaticString, _ error: any Error) {
        FailureLog.shared.note(.warning, text, cause: "\(type(of: error))", ["error": "\(error)"], request: nil)
    }
}
