// SPDX-License-Identifier: Apache-2.0

/// By whose right, and in which database, somebody asks for records.
package struct RecordAccess: Hashable, Sendable {
    package let scope: DatabaseScope
    /// Nil: nobody is signed in, who reads the public database at the most.
    package let user: UserID?
    /// Those of the types of the public database that do not have the standard ones.
    package var grants: [String: Grants]
    /// Those of the container's own roles that the user has.
    package var roles: Set<Role>

    package init(scope: DatabaseScope, user: UserID?, grants: [String: Grants] = [:], roles: Set<Role> = []) {
        self.scope = scope
        self.user = user
        self.grants = grants
        self.roles = roles
    }

    /// The owner of a private database, who may do everything there.
    package static func owner(_ user: UserID) -> RecordAccess {
        RecordAccess(scope: .private, user: user)
    }

    /// What may be done with one record: the only place where this is decided, for reading as for writing.
    ///
    /// - Parameters:
    ///   - type: the record's.
    ///   - creator: who created it; nil for a record that does not exist yet.
    package func effectivePermission(onType type: String, createdBy creator: UserID?) -> Permissions {
        switch scope {
        case .private:
            // nobody but the owner gets as far as this.
            return .all
        case .public:
            let grants = grants[type] ?? .standard
            // whatever the world is granted, writing needs an account.
            guard let user else { return grants.permissions(of: [.world]).intersection(.read) }
            let builtIn: Set<Role> = creator == user ? [.world, .authenticated, .creator] : [.world, .authenticated]
            return grants.permissions(of: builtIn.union(roles))
        case .shared:
            // what the shares that cover a record allow. There are none yet.
            return []
        }
    }
}
