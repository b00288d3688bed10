// SPDX-License-Identifier: Apache-2.0

/// The permissions of one user in one zone.
///
/// It can be made only from a ``ZoneSharing``: access comes from data that was read together with the records.
package struct ShareAccess: Hashable, Sendable {
    /// Whether the zone is the user's own. Owners see it in their private database alone.
    package let isOwner: Bool
    /// The user's part in the living share of the whole zone; nil: none that allows anything.
    private let part: SharePart?
    /// The user's parts in living shares of hierarchies that allow anything.
    private let parts: [ShareNumber: SharePart]

    package init(of user: UserID, in sharing: ZoneSharing) {
        isOwner = user == sharing.owner
        part = sharing.livingShare.flatMap { SharePart(of: user, in: $0, of: sharing) }
        var parts: [ShareNumber: SharePart] = [:]
        for share in sharing.shares.values where share.isLiving && share.isOfHierarchy {
            parts[share.number] = SharePart(of: user, in: share, of: sharing)
        }
        self.parts = parts
    }

    /// Whether the user takes part in a living share. For one who does not, the zone is not in the shared database.
    package var isParticipant: Bool { !isOwner && (part != nil || !parts.isEmpty) }

    /// Whether the user may read each record of the zone. Then no record must be left out of a read for them.
    package var readsEverything: Bool { isOwner || part != nil }

    /// Whether the user may be present with those who see that hierarchy, or the whole zone.
    package func mayBePresent(in hierarchy: ShareNumber?) -> Bool {
        guard let hierarchy else { return readsEverything }
        return isOwner || parts[hierarchy] != nil
    }

    /// The shares of hierarchies in which the user takes part, in the order in which they were made. Their records are what
    /// the user sees of the zone, unless the user reads everything.
    package var hierarchies: [ShareNumber] { parts.keys.sorted() }

    /// The zone's change with which the user's present part in a share of a hierarchy began. Records that left the share before that were
    /// never visible to the user in this part. Nil: they take part in no such share.
    package func acceptedNumber(in share: ShareNumber) -> ChangeNumber? { parts[share]?.acceptedNumber }

    /// The zone's change with which the user's access to it began. All parts have one time without a gap, because a user who accepts while
    /// another part lives takes over its number. Nil: they have none.
    package var begunNumber: ChangeNumber? { ([part].compactMap(\.self) + parts.values).map(\.begunNumber).min() }

    /// Whether the user may change the share and its participants.
    package func mayChange(_ share: ShareNumber?) -> Bool {
        if isOwner { return true }
        guard let share else { return false }
        return (part?.share == share ? part : parts[share])?.role == .administrator
    }

    /// Whether the user may create records somewhere in the zone.
    package var mayWriteSomewhere: Bool {
        isOwner || part?.permission == .readWrite || parts.values.contains { $0.permission == .readWrite }
    }

    /// The user's permissions on a record of the zone. ``RecordAccess/effectivePermission(on:)`` calls it for each record.
    /// ``isParticipant`` says whether the zone is in the user's list. SQL has a copy of it (`SharedFeedStatements.access`).
    package func permission(on place: RecordPlace) -> Permissions {
        if isOwner { return .all }
        if let part { return part.permission(on: place) }
        return place.share.flatMap { parts[$0] }?.permission(on: place) ?? []
    }
}

/// A participation in a living share, for the records that it covers.
private struct SharePart: Hashable, Sendable {
    let share: ShareNumber
    let role: ParticipantRole
    let permission: SharePermission
    /// With which change the participation began.
    let acceptedNumber: ChangeNumber
    /// With which change the access to the zone began.
    let begunNumber: ChangeNumber

    /// Nil if the user may do nothing.
    init?(of user: UserID, in share: Share, of sharing: ZoneSharing) {
        guard let row = sharing.row(of: user, in: share.number), row.hasAccepted else { return nil }
        let permission = row.permission(in: share)
        guard permission != .noAccess else { return nil }
        (self.share, role, self.permission) = (share.number, row.role, permission)
        acceptedNumber = row.acceptedNumber ?? 0
        begunNumber = row.begunNumber ?? acceptedNumber
    }

    func permission(on place: RecordPlace) -> Permissions {
        guard place.type == Share.recordType else { return permission.permissions }
        // Nobody but the owner makes a share.
        return role == .administrator ? [.read, .write] : .read
    }
}
