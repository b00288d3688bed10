// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
internal import TidemarkPostgres
package import TidemarkService

extension AdminStore {
    /// What was chosen for an account's requests in all containers together.
    ///
    /// - Parameter account: nil: for those of each account for which nothing was chosen.
    package func requestRate(of account: AccountID?) async throws(StorageError) -> RateChoice {
        guard let account else { return try await storage.read(sql.rates.ofEach()).first ?? .standard }
        return try await storage.read(sql.rates.ofAccount(account)).first ?? .standard
    }

    /// What was chosen for the requests of each account in a container; nil if there is no such container.
    package func requestRate(in key: ContainerKey) async throws(StorageError) -> RateChoice? {
        try await storage.read(sql.rates.ofContainer(key)).first
    }

    /// Chooses it, and tells all servers, which use it at once.
    ///
    /// - Returns: whether there is such an account.
    package func setRequestRate(_ choice: RateChoice, of account: AccountID?) async throws(StorageError) -> Bool {
        guard try await storage.setRequestRate(choice, of: account) else { return false }
        try await storage.post([.limitsChanged(account)])
        return true
    }

    /// The same for each account in a container.
    ///
    /// - Returns: whether there is such a container.
    package func setRequestRate(_ choice: RateChoice, in key: ContainerKey) async throws(StorageError) -> Bool {
        guard try await storage.setRequestRate(choice, in: key) else { return false }
        try await storage.post([.limitsChanged(nil)])
        return true
    }

    /// How many connections an account may have to each server; nil: nothing was chosen.
    ///
    /// - Parameter account: nil: each account for which nothing was chosen.
    package func connectionsMax(of account: AccountID?) async throws(StorageError) -> Int? {
        let found: Int32? =
            if let account {
                try await storage.read(sql.rates.connections(account)).first ?? nil
            } else {
                try await storage.read(sql.rates.connectionsOfEach()).first ?? nil
            }
        return found.map { Int($0) }
    }

    /// Chooses it. Servers use it for the next connection. Those that are open stay.
    ///
    /// - Returns: whether there is such an account.
    package func setConnectionsMax(_ count: Int?, of account: AccountID?) async throws(StorageError) -> Bool {
        try await storage.setConnectionsMax(count.map { Int32(clamping: $0) }, of: account)
    }
}
