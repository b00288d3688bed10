// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkStore

extension Console {
    /// Names of a kind that begin with `prefix`; none if the store has no such, or if what they are of is not known.
    ///
    /// - Parameter account: whose zones.
    func names(_ kind: LiveName, prefix: String, account: String?) async throws -> [String] {
        switch kind {
        case .accounts: return try await store.accountNames(prefix: prefix)
        case .containers: return try await store.containerIdentifiers(prefix: prefix)
        case .contexts: return []
        case .databases:
            return (DatabaseArgument.public.name.hasPrefix(prefix) ? [DatabaseArgument.public.name] : [])
                + (try await store.accountNames(prefix: prefix))
        case .zones:
            guard let account, case .private(let name)? = DatabaseArgument(argument: account),
                let database = try await store.privateDatabase(ofAccount: name, in: try container())
            else { return [] }
            return try await store.zoneNames(prefix: prefix, in: database)
        }
    }
}

extension CompletionExpectation {
    /// The account that was typed, as such or as a database.
    var account: String? { arguments["account"] ?? arguments["database"] }
}
