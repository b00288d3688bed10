// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
internal import TidemarkPostgres
package import TidemarkService

/// How an operator says which addresses belong to an account, for `tidemark admin accounts`.
extension AdminStore {
    /// What an address is. Raw values are stored.
    package enum AddressKind: Int16, Sendable, PostgresCode {
        case email = 1
        case phone = 2
    }

    /// An address that an account has verified.
    package struct Address: Sendable, Equatable {
        package let kind: AddressKind
        /// In its normal form.
        package let text: String
        package let verifiedAt: Timestamp
    }

    /// In alphabetical order.
    package func addresses(of account: AccountID) async throws(StorageError) -> [Address] {
        try await storage.read(sql.addresses.ofAccount(account))
    }

    /// Makes an address a verified one of the account. Repeating it does no harm.
    ///
    /// - Parameter address: in its normal form.
    /// - Returns: false, with nothing changed, if it is another account's.
    package func addAddress(
        _ address: String, kind: AddressKind, to account: AccountID
    ) async throws(StorageError) -> Bool {
        try await storage.writeRepeatably(sql.addresses.add((account, kind, address))).affectedCount > 0
    }

    /// - Returns: false if the account does not have the address.
    package func removeAddress(_ address: String, of account: AccountID) async throws(StorageError) -> Bool {
        try await storage.write(sql.addresses.remove((account, address))).affectedCount > 0
    }
}
