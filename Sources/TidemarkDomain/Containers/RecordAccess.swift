// SPDX-License-Identifier: Apache-2.0

/// The user who asks for records, the database, and the rights.
package struct RecordAccess: Hashable, Sendable {
    package let scope: DatabaseScope
    /// Nil: nobody is signed in. Such a caller can at most read the public database.
    package let user: UserID?
    /// Grants of the public database's record types, where they differ from the standard ones.
    package var grants: [String: Grants]
    /// The container's own roles that the user has.
    package var roles: Set<Role>
    /// In the shared database: what the zone's shares allow, as they were read with the records. Nil: nothing.
    package var share: ShareAccess?

    package init(scope: DatabaseScope, user: UserID?, grants: [String: Grants] = [:], roles: Set<Role> = []) {
        self.scope = scope
        self.user = user
        self.grants = grants
        self.roles = roles
    }

    /// The access of a private database's owner, who may do everything there.
    package static func owner(_ user: UserID) -> RecordAccess {
        RecordAccess(scope: .private, user: user)
    }

    /// The same in the shared database, by the shares of a zone as they were read with its records. Nil: the caller takes
    /// part in none, so the zone is not there (I-5).
    package func sharing(_ sharing: ZoneSharing?) -> RecordAccess? {
        guard scope == .shared else { return self }
        guard let user, let sharing else { return nil }
        var access = self
        let share = ShareAccess(of: user, in: sharing)
        access.share = share
        return share.isParticipant ? access : nil
    }

    /// Nil for an owner, who reads everything: feeds then leave nothing out.
    package var unlessOwner: RecordAccess? { scope == .private ? nil : self }

    /// The user who reads others' records here. Change tokens and cursors name this user, and are valid for nobody else
    /// . Nil where they name nobody: in a private database, which its owner reads, and in the public one, which
    /// everybody reads.
    package var viewer: UserID? { scope == .shared ? user : nil }

    /// The bits that identify one of the caller's devices, or a device's life, in this database.
    ///
    /// Two accounts may use the same bits. A private database has its owner's devices alone, and keeps their
    /// bits as they are. Elsewhere the user is mixed in. So no user reads or replaces data that another user's device
    /// left. A caller without a sign-in leaves no data, and is ``DeviceID/nobody``.
    package func marking(_ device: DeviceID) -> DeviceID {
        if scope == .private { return device }
        return user.map(device.marked(with:)) ?? .nobody
    }

    /// The caller's permissions on one record. Each request that reads or writes records calls this function. A shared
    /// database's list of zones does not: SQL filters it by a copy of the rule (`SharedFeedStatements.access`).
    package func effectivePermission(on place: RecordPlace) -> Permissions {
        switch scope {
        case .private:
            // only the owner gets this far.
            return .all
        case .public:
            let grants = grants[place.type] ?? .standard
            // writing needs an account, whatever the world is granted.
            let permissions = grants.permissions(of: roles(on: place))
            return user == nil ? permissions.intersection(.read) : permissions
        case .shared:
            // what the shares that cover a record allow.
            return share?.permission(on: place) ?? []
        }
    }

    /// Whether the caller sees the zone through shares of hierarchies: then what may be done depends on a record's place.
    package var seesHierarchies: Bool { scope == .shared && share?.readsEverything == false }

    /// Whether the caller may make the record. In a shared hierarchy the share of its parent decides, which is asked where
    /// the parent is known.
    package func mayCreate(_ save: RecordSave) -> Bool {
        if seesHierarchies { return save.parent.setsParent && share?.isParticipant == true }
        return effectivePermission(on: RecordPlace(type: save.type, creator: nil)).contains(.create)
    }

    /// The roles that the caller has for a record of the public database: the built-in ones and the container's own.
    func roles(on place: RecordPlace) -> Set<Role> {
        guard let user else { return [.world] }
        let builtIn: Set<Role> = place.creator == user ? [.world, .authenticated, .creator] : [.world, .authenticated]
        return builtIn.union(roles)
    }

    /// Whether the caller may read the record. If not, it does not exist for the caller (I-5).
    package func mayRead(_ record: RecordState) -> Bool {
        effectivePermission(on: RecordPlace(of: record)).contains(.read)
    }
}
