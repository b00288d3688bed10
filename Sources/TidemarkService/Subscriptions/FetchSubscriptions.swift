// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain

extension CloudService {
    /// A user's subscriptions in one scope, by ID.
    package func subscriptions(
        in scope: DatabaseScope, of user: UserID
    ) async -> Result<[Subscription], FailureReason> {
        await retry.run { () async throws(StorageError) in
            let all = try await storage.subscriptions(of: user, withFired: false)
            return .success(all.filter { $0.scope == scope }.sorted { $0.id < $1.id })
        }
    }

    /// A user's subscriptions in all scopes, with those that have fired once. A session needs them to push.
    package func subscriptions(of user: UserID) async -> Result<[Subscription], FailureReason> {
        await retry.run { () async throws(StorageError) in
            .success(try await storage.subscriptions(of: user, withFired: true))
        }
    }
}
