// SPDX-License-Identifier: Apache-2.0

/// The permissions of a user on a record, and the rule that gives them: for operators.
package struct AccessVerdict: Hashable, Sendable {
    /// As ``RecordAccess/effectivePermission(on:)`` decides it for every request.
    package let permissions: Permissions
    package let reason: AccessReason

    package init(permissions: Permissions, reason: AccessReason) {
        self.permissions = permissions
        self.reason = reason
    }
}

/// Why somebody may do what they may with a record.
package enum AccessReason: Hashable, Sendable {
    /// The record is in the user's own private database.
    case ownDatabase
    /// The record is public. The user has these roles for it, and its type grants rights to roles.
    case grants(to: Set<Role>)
    /// The zone was never shared, or its shares were forgotten.
    case zoneNotShared
    /// The zone's share has ended.
    case shareEnded
    /// Hierarchies of the zone are shared, and the record is in none of them.
    case notCovered
    /// The user is not in the share.
    case notInvited
    /// The same, and the share is public: its URL lets the user in.
    case mayJoin
    /// The user is invited by name, and has not accepted.
    case invited
    /// The user has verified an address that is invited, and has not accepted.
    case addressInvited
    /// The user has asked for access, and nobody has answered.
    case hasAsked
    /// The user is blocked from the share.
    case blocked
    /// The user is not in the share, and this many one-time links to it are not taken.
    case linksUntaken(Int)
    /// The user was removed, or has left, by that change of the zone.
    case removed(at: ChangeNumber)
    /// The user was invited and has accepted. The user's permission.
    case participant(SharePermission)
    /// The user joined by the URL. The permission that the share gives everybody now.
    case publicUser(SharePermission)
    /// The record is the share itself.
    case shareRecord(ParticipantRole)
}

extension RecordAccess {
    /// The caller's permissions on a record, and the reason.
    ///
    /// - Parameters:
    ///   - sharing: in the shared database: the shares of the record's zone, with all participants; nil if it has none.
    ///   - addresses: the verified addresses of the caller's account, in their normal form.
    package func verdict(
        on place: RecordPlace, in sharing: ZoneSharing?, addresses: Set<String> = []
    ) -> AccessVerdict {
        let access = self.sharing(sharing)
        return AccessVerdict(
            permissions: access?.effectivePermission(on: place) ?? [],
            reason: reason(on: place, in: sharing, addresses: addresses))
    }

    /// In the public database: what each role of the caller's gives for the record, by the roles' names. A role that
    /// gives nothing is in it too.
    package func rights(on place: RecordPlace) -> [(role: Role, permissions: Permissions)] {
        guard scope == .public else { return [] }
        let grants = grants[place.type] ?? .standard
        return roles(on: place).sorted().map { ($0, grants.permissions(of: [$0])) }
    }

    private func reason(on place: RecordPlace, in sharing: ZoneSharing?, addresses: Set<String>) -> AccessReason {
        switch scope {
        case .private: return .ownDatabase
        case .public: return .grants(to: roles(on: place))
        case .shared:
            guard let user, let sharing else { return .zoneNotShared }
            // The server does not know whether the user has the URL. The verdict says what the URL would allow
            // (`mayJoin`).
            let visitor = ShareVisitor(user: user, addresses: addresses, secret: sharing.secret ?? [])
            return sharing.reason(for: visitor, on: place)
        }
    }
}

extension ZoneSharing {
    /// - Precondition: the visitor is not the owner, whose own zones are not in the shared database.
    fileprivate func reason(for visitor: ShareVisitor, on place: RecordPlace) -> AccessReason {
        precondition(isWhole)
        guard let share = place.share.flatMap({ shares[$0] }) ?? livingShare else {
            if hasHierarchies { return .notCovered }
            return shares.isEmpty ? .zoneNotShared : .shareEnded
        }
        let visitor = visitor.coming(to: share, with: secret(of: share))
        switch entry(of: visitor)?.entry {
        case .participant(let row):
            if place.type == Share.recordType { return .shareRecord(row.role) }
            return row.role == .publicUser ? .publicUser(share.publicPermission) : .participant(row.permission)
        case .invited(let row): return row.user == nil ? .addressInvited : .invited
        case .publicUser: return .mayJoin
        case .owner, nil: return reasonOutside(visitor.user, of: share)
        }
    }

    /// Why somebody has no part in a share. The present state comes before the past one.
    private func reasonOutside(_ user: UserID, of share: Share) -> AccessReason {
        if let request = request(of: user, in: share.number) { return request.isBlocked ? .blocked : .hasAsked }
        if let row = row(of: user, in: share.number) { return .removed(at: row.endedNumber ?? share.number.rawValue) }
        let untaken = rows(of: share.number).count { $0.isUntakenLink }
        return untaken == 0 ? .notInvited : .linksUntaken(untaken)
    }
}

extension AccessReason {
    /// The number of the rule in `Tests/RULES.md`.
    package var rule: String {
        switch self {
        case .ownDatabase: "R-009"
        case .grants: "R-008"
        case .zoneNotShared: "R-010"
        case .shareEnded: "R-326"
        case .notCovered: "R-302"
        case .notInvited: "R-316"
        case .mayJoin, .invited: "R-317"
        case .addressInvited: "R-976"
        case .hasAsked: "R-972"
        case .blocked: "R-974"
        case .linksUntaken: "R-970"
        case .removed: "R-328"
        case .participant: "R-323"
        case .publicUser: "R-308"
        case .shareRecord: "R-313"
        }
    }

    /// One sentence for people.
    package var text: String {
        switch self {
        case .ownDatabase: "The record is in the account's own private database."
        case .grants(let roles):
            "The record is in the public database. For this record the account has the roles "
                + roles.map(\.name).sorted().joined(separator: ", ")
                + ". The schema grants these rights to them."
        case .zoneNotShared: "The zone is not shared."
        case .shareEnded: "The zone's share has ended."
        case .notCovered: "Records of the zone are shared with all that is below them. The record is none of them."
        case .notInvited: "The zone is shared, but not with the account."
        case .mayJoin:
            "The account is not a participant. The share is public, so the account can join with its link."
        case .invited: "The account is invited, and has not accepted yet."
        case .addressInvited: "The account has an address that is invited, and has not accepted yet."
        case .hasAsked: "The account has asked for access, and nobody has answered yet."
        case .blocked: "The account is blocked. For it there is no such share until it is unblocked or invited by name."
        case .linksUntaken(let count):
            "The zone is shared, but not with the account. One-time links that nobody has taken: \(count). Whoever comes "
                + "first with one takes part."
        case .removed(let number): "The account was removed, or has left, by change \(number) of the zone."
        case .participant(let permission): "The account takes part, with the permission \(permission.name)."
        case .publicUser(let permission):
            "The account joined by the link. The share allows everybody \(permission.name)."
        case .shareRecord(let role):
            role == .administrator
                ? "The record is the share, and the account is one of its administrators."
                : "The record is the share. Only its owner and administrators change it."
        }
    }
}

extension SharePermission {
    /// CloudKit's name.
    package var name: String {
        switch self {
        case .noAccess: "none"
        case .readOnly: "readOnly"
        case .readWrite: "readWrite"
        }
    }
}

extension ParticipantRole {
    /// CloudKit's name.
    package var name: String {
        switch self {
        case .owner: "owner"
        case .administrator: "administrator"
        case .privateUser: "privateUser"
        case .publicUser: "publicUser"
        }
    }
}

extension ParticipantStatus {
    /// CloudKit's name.
    package var name: String {
        switch self {
        case .pending: "pending"
        case .accepted: "accepted"
        case .removed: "removed"
        }
    }
}
