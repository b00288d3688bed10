// SPDX-License-Identifier: Apache-2.0

/// What one user may do in one zone, and since when.
///
/// It can be made from a ``ZoneSharing`` alone: access is what was read, never what somebody was told.
package struct ShareAccess: Hashable, Sendable {
    package let user: UserID
    /// Whether the zone is the user's own. Owners see it in their private database alone.
    package let isOwner: Bool
    /// Living shares in which the user takes part, by their numbers.
    private let parts: [SharePart]
    /// When the user had access, in the zone's numbering, oldest first. Intervals that overlap are one. An owner has
    /// none.
    package let intervals: [AccessInterval]

    package init(of user: UserID, in sharing: ZoneSharing) {
        self.user = user
        isOwner = user == sharing.owner
        var parts: [SharePart] = []
        var intervals: [AccessInterval] = []
        for (number, share) in sharing.shares {
            guard let row = sharing.row(of: user, in: number), let accepted = row.acceptedNumber else { continue }
            let permission = row.permission(in: share)
            let lives = share.isLiving && row.hasAccepted
            if lives, permission == .noAccess { continue }
            if lives {
                parts.append(
                    SharePart(share: number, isZoneWide: share.isZoneWide, role: row.role, permission: permission))
            }
            let ends = [share.endedNumber, row.endedNumber].compactMap { $0 }
            intervals.append(AccessInterval(begin: accepted, end: ends.min()))
        }
        self.parts = parts.sorted { $0.share < $1.share }
        self.intervals = AccessInterval.joining(intervals)
    }

    /// Whether the user takes part in a living share. For one who does not, the zone is not in the shared database.
    package var isParticipant: Bool { !parts.isEmpty && !isOwner }

    /// Whether the user may read each record of the zone. Then nothing must be left out of what is read for them.
    package var readsEverything: Bool { isOwner || parts.contains(where: \.isZoneWide) }

    /// The living shares in which the user takes part.
    package var shares: [ShareNumber] { parts.map(\.share) }

    /// Whether the user may change the share and its participants.
    package func mayChange(_ share: ShareNumber?) -> Bool {
        isOwner || parts.contains { $0.share == share && $0.role == .administrator }
    }

    /// What the user may do with a record of the zone. ``RecordAccess/effectivePermission(on:)`` asks it for each record.
    /// Whether the zone is in the user's list is ``isParticipant``, which SQL has a copy of (`SharedFeedStatements.access`).
    package func permission(on place: RecordPlace) -> Permissions {
        if isOwner { return .all }
        var sum: Permissions = []
        for part in parts where part.covers(place) { sum.formUnion(part.permission(on: place)) }
        return sum
    }
}

/// A participation in a living share.
private struct SharePart: Hashable, Sendable {
    let share: ShareNumber
    let isZoneWide: Bool
    let role: ParticipantRole
    let permission: SharePermission

    /// A share of a hierarchy covers the records that are labelled with its number. No record has a label yet.
    func covers(_ place: RecordPlace) -> Bool { isZoneWide }

    func permission(on place: RecordPlace) -> Permissions {
        guard place.type == Share.recordType else { return permission.permissions }
        // Nobody but the owner makes a share.
        return role == .administrator ? [.read, .write] : .read
    }
}

/// From the change that gave access to the one that took it away, in the numbering of a zone.
package struct AccessInterval: Hashable, Sendable {
    package let begin: ChangeNumber
    /// The first number that is outside; nil: it lasts.
    package let end: ChangeNumber?

    package init(begin: ChangeNumber, end: ChangeNumber? = nil) {
        self.begin = begin
        self.end = end
    }

    /// Sorted, with those that overlap as one.
    static func joining(_ intervals: [AccessInterval]) -> [AccessInterval] {
        var joined: [AccessInterval] = []
        for next in intervals.sorted(by: { $0.begin < $1.begin }) {
            guard let last = joined.last, last.end.map({ next.begin <= $0 }) ?? true else {
                joined.append(next)
                continue
            }
            joined[joined.count - 1] = AccessInterval(
                begin: last.begin, end: last.end.flatMap { end in next.end.map { max(end, $0) } })
        }
        return joined
    }
}
