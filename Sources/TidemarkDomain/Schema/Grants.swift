// SPDX-License-Identifier: Apache-2.0

/// To whom a permission in the public database is granted.
package enum Role: Hashable, Sendable, Comparable {
    /// Anybody, signed in or not.
    case world
    /// Any user with an account.
    case authenticated
    /// The user who created the record.
    case creator
    /// One of the container's own roles; its name does not begin with `_`.
    case custom(String)

    /// The name in the schema language, which is also stored.
    package var name: String {
        switch self {
        case .world: "_world"
        case .authenticated: "_icloud"
        case .creator: "_creator"
        case .custom(let name): name
        }
    }

    /// Nil for a name that no role can have. A name is a letter and then letters, digits and underscores, or that of a
    /// built-in role.
    package init?(name: String) {
        switch name {
        case "_world": self = .world
        case "_icloud": self = .authenticated
        case "_creator": self = .creator
        default:
            guard SchemaName.isValid(name) else { return nil }
            self = .custom(name)
        }
    }

    package static func < (left: Self, right: Self) -> Bool { left.name < right.name }
}

/// The operations that a role may carry out on records of one type. Raw values are stored.
package struct Permissions: OptionSet, Hashable, Sendable {
    package let rawValue: Int16
    package init(rawValue: Int16) { self.rawValue = rawValue }

    package static let read = Permissions(rawValue: 1)
    package static let create = Permissions(rawValue: 2)
    /// Permission to modify and to delete.
    package static let write = Permissions(rawValue: 4)

    package static let all: Permissions = [.read, .create, .write]
}

/// The permissions of each role on records of one type in the public database.
package struct Grants: Hashable, Sendable {
    /// The permissions of each role. Roles without a permission are left out.
    package private(set) var byRole: [Role: Permissions]

    package init(_ byRole: [Role: Permissions]) {
        self.byRole = byRole.filter { !$0.value.isEmpty }
    }

    /// The grants of a type whose schema has none: the world reads, users create, the creator writes.
    package static let standard = Grants([.world: .read, .authenticated: .create, .creator: .write])

    package mutating func add(_ permissions: Permissions, to role: Role) {
        guard !permissions.isEmpty else { return }
        byRole[role, default: []].formUnion(permissions)
    }

    /// The permissions of a user with all of these roles. Permission to write includes permission to read.
    package func permissions(of roles: Set<Role>) -> Permissions {
        var sum: Permissions = []
        for role in roles { sum.formUnion(byRole[role] ?? []) }
        if sum.contains(.write) { sum.formUnion(.read) }
        return sum
    }
}
