// SPDX-License-Identifier: Apache-2.0

/// What one user may do in one zone.
///
/// It can be made only from a ``ZoneSharing``: access comes from what was read with the data.
package struct ShareAccess: Hashable, Sendable {
    /// Whether the zone is the user's own. Owners see it in their private database alone.
    package let isOwner: Bool
    /// The user's part in the living share; nil: none that allows anything.
    private let part: SharePart?

    package init(of user: UserID, in sharing: ZoneSharing) {
        isOwner = user == sharing.owner
        part = sharing.livingShare.flatMap { share in
            guard let row = sharing.row(of: user, in: share.number), row.hasAccepted else { return nil }
            let permission = row.permission(in: share)
            return permission == .noAccess
                ? nil : SharePart(share: share.number, role: row.role, permission: permission)
        }
    }

    /// Whether the user takes part in a living share. For one who does not, the zone is not in the shared database.
    package var isParticipant: Bool { part != nil && !isOwner }

    /// Whether the user may read each record of the zone. Then nothing must be left out of what is read for them.
    package var readsEverything: Bool { isOwner || part != nil }

    /// Whether the user may change the share and its participants.
    package func mayChange(_ share: ShareNumber?) -> Bool {
        isOwner || part.map { $0.share == share && $0.role == .administrator } ?? false
    }

    /// What the user may do with a record of the zone. ``RecordAccess/effectivePermission(on:)`` asks it for each record.
    /// Whether the zone is in the user's list is ``isParticipant``, which SQL has a copy of (`SharedFeedStatements.access`).
    package func permission(on place: RecordPlace) -> Permissions {
        isOwner ? .all : part?.permission(on: place) ?? []
    }
}

/// A participation in a living share, which covers every record of the zone.
private struct SharePart: Hashable, Sendable {
    let share: ShareNumber
    let role: ParticipantRole
    let permission: SharePermission

    func permission(on place: RecordPlace) -> Permissions {
        guard place.type == Share.recordType else { return permission.permissions }
        // Nobody but the owner makes a share.
        return role == .administrator ? [.read, .write] : .read
    }
}
