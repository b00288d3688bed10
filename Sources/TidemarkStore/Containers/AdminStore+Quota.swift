// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
internal import TidemarkPostgres
package import TidemarkService

extension AdminStore {
    /// How many bytes a database holds.
    package struct DatabaseUse: Sendable {
        /// The account that owns the private database; nil for the public one.
        package let account: String?
        /// Those of records in living zones, as quotas count them.
        package let recordBytes: Int64
        package let assetBytes: Int64
    }

    /// Nil if there is no such container.
    package func quota(of key: ContainerKey) async throws(StorageError) -> StorageQuota? {
        try await storage.read(sql.quotas.find(key)).first
    }

    /// Sets the quota of the container's databases. It holds from the next save on.
    ///
    /// - Returns: whether there is such a container.
    package func setQuota(_ quota: StorageQuota, of key: ContainerKey) async throws(StorageError) -> Bool {
        try await storage.setQuota(quota, of: key)
    }

    /// An account's own quota over all containers, or that of all accounts that have none of their own; nil if
    /// there is none.
    package func quota(ofAccount account: AccountID?) async throws(StorageError) -> Int64? {
        guard let account else { return try await storage.read(sql.quotas.ofAccounts()).first ?? nil }
        return try await storage.read(sql.quotas.ofAccount(account)).first ?? nil
    }

    /// See `Storage.setAccountQuota(_:of:)`.
    package func setQuota(_ bytesMax: Int64?, ofAccount account: AccountID?) async throws(StorageError) {
        _ = try await storage.setAccountQuota(bytesMax, of: account)
    }

    /// How full an account's private databases are; nil if it has no quota.
    package func use(ofAccount account: AccountID) async throws(StorageError) -> StorageUse? {
        try await storage.read(sql.quotas.accountUses([account])).first?.use
    }

    /// The databases of a container that hold the most bytes, largest first.
    package func largestDatabases(
        of key: ContainerKey, countMax: Int
    ) async throws(StorageError) -> [DatabaseUse] {
        try await storage.read(sql.quotas.largest((key, countMax)))
    }
}
