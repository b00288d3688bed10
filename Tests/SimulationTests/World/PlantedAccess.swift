// SPDX-License-Identifier: Apache-2.0

import TidemarkDomain
import TidemarkService

/// The shares of a zone as they were a while ago.
struct EarlySharing {
    let zone: ZoneID
    let sharing: ZoneSharing

    init(_ zone: ZoneID, _ sharing: ZoneSharing) {
        (self.zone, self.sharing) = (zone, sharing)
    }
}

/// The part of ``PlantedStorage`` that makes mistakes about what participants may do.
final class PlantedAccess: @unchecked Sendable {
    // NB: unchecked, as all of the simulation: one thread runs it.
    /// Between two reads that ought to be one.
    static let delay: Duration = .milliseconds(300)

    private let fault: PlantedFault
    /// The last shares that let these readers in.
    private var admitting: [ZoneID: [SharingRead: ZoneSharing]] = [:]

    init(_ fault: PlantedFault) {
        self.fault = fault
    }

    func spoil(_ snapshot: inout ZoneSnapshot, read: SharingRead, _ early: EarlySharing?) {
        snapshot.sharing = spoilt(
            snapshot.sharing, read, of: snapshot.zone?.id, early, isRemembered: !snapshot.memories.isEmpty)
    }

    /// What is said of a zone's shares instead of what was read.
    ///
    /// - Parameters:
    ///   - zone: nil if it does not live, or if the read does not say.
    ///   - early: what was read before that.
    ///   - isRemembered: whether outcomes of requests were read, too.
    func spoilt(
        _ sharing: ZoneSharing?, _ read: SharingRead, of zone: ZoneID?, _ early: EarlySharing?,
        isRemembered: Bool = false
    ) -> ZoneSharing? {
        if fault == .blockedPersonHeard { return sharing?.withoutBlocks(for: read) }
        guard case .access(let users) = read, let sharing, let zone else { return sharing }
        switch fault {
        case .accessReadBeforeLock:
            return early?.zone == zone ? early?.sharing : sharing
        case .invitationTakenForAcceptance:
            return sharing.withoutInvitations
        case .memoryTakenForAccess:
            if users.contains(where: { ShareAccess(of: $0, in: sharing).isParticipant }) {
                admitting[zone, default: [:]][read] = sharing
                return sharing
            }
            return isRemembered ? admitting[zone]?[read] ?? sharing : sharing
        default: return sharing
        }
    }
}

extension ZoneSharing {
    /// As if everybody who is invited had accepted.
    fileprivate var withoutInvitations: ZoneSharing {
        let rows = participants.mapValues { rows in
            rows.values.map { row in
                guard row.status == .pending else { return row }
                var row = row
                (row.status, row.acceptedNumber) = (.accepted, 1)
                return row
            }
        }
        return ZoneSharing(owner: owner, shares: Array(shares.values), participants: rows, isWhole: isWhole)
    }
}

extension ZoneSharing {
    /// As if nobody were blocked. The owner sees who is.
    fileprivate func withoutBlocks(for read: SharingRead) -> ZoneSharing {
        guard read.viewer != owner else { return self }
        return ZoneSharing(
            owner: owner, shares: Array(shares.values), participants: participants.mapValues { Array($0.values) },
            requests: requests.mapValues { rows in rows.values.filter { !$0.isBlocked } }, secret: secret,
            isWhole: isWhole, wholeShares: wholeShares, personNames: personNames)
    }
}

extension ZonePageQuery {
    /// The same of one who may read everything.
    var asOwner: ZonePageQuery {
        ZonePageQuery(
            key: key, after: after, recordsMax: recordsMax, bytesMax: bytesMax, device: device, tellsEnds: tellsEnds,
            reader: nil, feedsEverywhere: feedsEverywhere, tombstonesPassedMax: tombstonesPassedMax)
    }
}

extension QueryPageQuery {
    /// The same of one who may read everything.
    var asOwner: QueryPageQuery {
        QueryPageQuery(
            database: database, query: query, fields: fields, after: after, recordsMax: recordsMax, bytesMax: bytesMax,
            mayMark: mayMark)
    }
}

extension DatabaseFeedRead {
    /// The zones of others that the viewer does not see any more.
    mutating func leaveOutEndsOfAccess(for viewer: DatabaseID) {
        entries.removeAll { $0.removal != nil && $0.key.database != viewer }
        unnumbered.removeAll { $0.removal != nil && $0.key.database != viewer }
    }

    /// The ends of zones that are there again.
    mutating func leaveOutEndsOfLiving() {
        let living = Set((entries + unnumbered).filter { $0.removal == nil }.map(\.zone))
        entries.removeAll { $0.removal != nil && living.contains($0.zone) }
    }
}

extension ZoneChanges {
    /// The changes of shares without the version of their record.
    var withoutShareRecord: ZoneChanges {
        guard !sharing.isEmpty else { return self }
        return ZoneChanges(
            database: database, zone: zone, changeNumber: changeNumber,
            records: records.filter { $0.name != Share.zoneWideName },
            replaced: replaced.filter { $0.name != Share.zoneWideName }, memories: memories,
            clientTokensMax: clientTokensMax, sharing: sharing, hasHierarchies: hasHierarchies)
    }

    /// The version of the record without the ends of participations.
    var removingNobody: ZoneChanges {
        guard !sharing.isEmpty else { return self }
        return with(
            sharing.map { change in
                var change = change
                change.ended = []
                return change
            })
    }

    /// The same if one-time links that are taken stay free for the next one, who gets a row of their own.
    var leavingLinks: ZoneChanges {
        guard sharing.contains(where: { $0.updated.contains(where: \.hasTakenLink) }) else { return self }
        return with(
            sharing.map { change in
                var change = change
                for (index, row) in change.updated.enumerated() where row.hasTakenLink {
                    change.inserted.append(row.under(ParticipantID(high: 9, low: UInt64(change.number))))
                    change.updated[index] = row.freed
                }
                return change
            })
    }

    /// The same if administrators keep their right, whatever is written of them.
    ///
    /// - Parameter before: the shares as they were.
    func keepingAdministrators(of before: ZoneSharing?) -> ZoneChanges {
        guard !sharing.isEmpty, let before else { return self }
        return with(
            sharing.map { change in
                let rows = before.participants[change.share] ?? [:]
                var change = change
                for (index, row) in change.updated.enumerated() where rows[row.id]?.isActiveAdministrator == true {
                    if row.hasAccepted { change.updated[index].role = .administrator }
                }
                change.ended.removeAll { rows[$0.id]?.isActiveAdministrator == true }
                return change
            })
    }

    private func with(_ sharing: [SharingChanges]) -> ZoneChanges {
        var changes = ZoneChanges(
            database: database, zone: zone, changeNumber: changeNumber, records: records, replaced: replaced,
            byteGrowth: byteGrowth, tombstoneGrowth: tombstoneGrowth, memories: memories, references: references,
            clientTokens: clientTokens, tokenUsers: tokenUsers, clientTokensMax: clientTokensMax,
            participantTokensMax: participantTokensMax, assetUses: assetUses, sharing: sharing,
            hasHierarchies: hasHierarchies)
        changes.indexColumns = indexColumns
        return changes
    }
}

extension Participant {
    fileprivate var hasTakenLink: Bool { hasAccepted && linkSecret != nil }
    fileprivate var isActiveAdministrator: Bool { hasAccepted && role == .administrator }

    /// As before somebody took the link.
    fileprivate var freed: Participant {
        Participant(
            id: id, linkSecret: linkSecret, role: role, permission: permission, addedAt: addedAt,
            isApprovedRequester: isApprovedRequester)
    }

    /// The same without the link, in another row.
    fileprivate func under(_ id: ParticipantID) -> Participant {
        Participant(
            id: id, user: user, role: role, permission: permission, status: status, acceptedNumber: acceptedNumber,
            addedAt: addedAt, isApprovedRequester: isApprovedRequester)
    }
}
