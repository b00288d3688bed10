// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain

/// The secret at the end of a share's URL.
enum ShareLinkSecret {
    /// Nobody can guess so many random bytes. Whoever has them may join a public share.
    static let byteCount = 16
}

extension RecordsRequest {
    /// Whether it may make a share. Owners alone do, in their private databases.
    func makesShare(within limits: Limits) -> Bool {
        access.scope == .private && saves.contains { makesShare($0, within: limits) }
    }

    private func makesShare(_ save: RecordSave, within limits: Limits) -> Bool {
        guard let share = save.share, share.tag == nil else { return false }
        return share.refusal(in: access.scope, zoneNamed: key.name, within: limits) == nil
    }

    /// The same, with a secret for the URL of the share that it makes.
    func with(freshSecret: [UInt8], within limits: Limits) -> RecordsRequest {
        let saves = saves.map { makesShare($0, within: limits) ? $0.with(freshSecret: freshSecret) : $0 }
        return RecordsRequest(
            id: id, key: key, saves: saves, deletes: deletes, policy: policy, isAtomic: isAtomic, user: user,
            access: access, clientToken: clientToken)
    }
}

/// A link that leads to a zone before the zone's share is there.
struct MadeLink {
    let secretHash: [UInt8]
    let key: ZoneKey
    let zone: ZoneID

    /// Whether the save was in another zone than the one to which the link leads: the zone was made anew in between.
    func isTakenElsewhere(by outcome: RecordsOutcome) -> Bool {
        outcome.saves.contains { if case .saved(let metadata) = $0 { metadata.zone != zone } else { false } }
    }
}
