// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
internal import TidemarkPostgres
package import TidemarkService

/// How an operator manages a container's own roles, for `tidemark admin roles`.
extension AdminStore {
    /// A role of a container's schema, and a user who has it.
    package struct RoleMember: Sendable, Equatable {
        package let role: String
        /// Nil in the single entry of a role that nobody has.
        package let account: String?
        /// The user's name in the container; empty if nobody has the role.
        package let userRecordName: String
    }

    /// Ordered by role and account.
    package func roleMembers(in key: ContainerKey) async throws(StorageError) -> [RoleMember] {
        try await storage.read(sql.choices.listRoles(key))
    }

    /// Gives a user one of the container's own roles, or takes it away. It holds from the next request on.
    ///
    /// - Returns: false, with nothing changed, if the schema has no such role.
    package func setRole(_ name: String, of user: UserID, isGiven: Bool) async throws(StorageError) -> Bool {
        try await storage.setRole(name, of: user, isGiven: isGiven)
    }
}
