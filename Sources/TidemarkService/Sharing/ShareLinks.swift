// SPDX-License-Identifier: Apache-2.0

internal import TidemarkCrypto
package import TidemarkDomain

/// The secret at the end of a share's URL, and that of a one-time link.
enum ShareLinkSecret {
    /// Nobody can guess so many random bytes. Anyone who has them may join a public share.
    private static let byteCount = 16

    static func make() -> [UInt8] { SecureRandom.bytes(byteCount) }

    /// The same requests, with a secret for each one-time link that they make.
    static func giving(_ parts: [RecordsRequest]) -> [RecordsRequest] {
        guard parts.contains(where: \.invitesByLink) else { return parts }
        return parts.map { $0.givingLinks(make) }
    }
}

/// The contents of a link: where its zone is found, and what it opens there.
///
/// The link of a zone is the zone's secret, and the zone is found by the SHA-256 of that. A one-time link begins with the same hash, and
/// ends with the secret of its participant. So it needs no pointer, and it does not reveal the zone's secret.
struct ReadLink: Hashable, Sendable {
    let zoneHash: [UInt8]
    let key: ShareKey

    /// - Parameter bytes: of a link. Those that no server makes open nothing.
    init(_ bytes: [UInt8]) {
        if bytes.count > SHA256.byteCount {
            zoneHash = Array(bytes.prefix(SHA256.byteCount))
            key = .oneTime(Array(bytes.dropFirst(SHA256.byteCount)))
        } else {
            zoneHash = SHA256.hash(bytes)
            key = .zone(bytes)
        }
    }
}

extension ZoneSharing {
    /// A living share as one viewer sees it, with what its one-time links begin with.
    package func shownShare(
        named recordName: String = Share.zoneWideName, to viewer: UserID, invitedAs invitation: ParticipantID? = nil
    ) -> ShownShare? {
        var share = share(named: recordName, shownTo: viewer, invitedAs: invitation)
        if share?.hasOneTimeLinks == true {
            let secret = livingShare(named: recordName).flatMap { self.secret(of: $0) }
            share?.secretHash = SHA256.hash(secret ?? [])
        }
        return share
    }

    /// Those of the shares of CKShare records that a viewer may see, by the records' names.
    package func shownShares(named names: Set<String>, to viewer: UserID) -> [String: ShownShare] {
        var shown: [String: ShownShare] = [:]
        for name in names { shown[name] = shownShare(named: name, to: viewer) }
        return shown
    }
}

extension RecordsRequest {
    /// Whether it may make a share. Owners alone do, in their private databases.
    func makesShare(within limits: Limits) -> Bool {
        access.scope == .private && saves.contains { makesShare($0, within: limits) }
    }

    private func makesShare(_ save: RecordSave, within limits: Limits) -> Bool {
        guard let share = save.share, share.tag == nil else { return false }
        guard share.mayBeMade(within: limits) else { return false }
        return share.refusal(in: access.scope, zoneNamed: key.name, within: limits) == nil
    }

    /// The shares that it may make: the names of their CKShare records, and of the roots of hierarchies.
    func madeShares(within limits: Limits) -> [(name: String, root: String?)] {
        guard access.scope == .private else { return [] }
        return saves.compactMap { makesShare($0, within: limits) ? (name: $0.name, root: $0.share?.rootName) : nil }
    }

    /// The same, with a secret for the URL of a share that it makes.
    func with(freshSecret: [UInt8], forShareNamed name: String) -> RecordsRequest {
        let saves = saves.map { $0.name == name ? $0.with(freshSecret: freshSecret) : $0 }
        return RecordsRequest(
            id: id, key: key, saves: saves, deletes: deletes, policy: policy, isAtomic: isAtomic, user: user,
            access: access, clientToken: clientToken)
    }
}

/// A link that leads to a zone before the zone's share is there.
struct MadeLink {
    let secretHash: [UInt8]
    let key: ZoneKey
    /// The root of the hierarchy whose link it is; nil: of the whole zone.
    let root: String?
    let zone: ZoneID

    /// Whether the save was in another zone than the one to which the link leads: the zone was made again in between.
    func isTakenElsewhere(by outcome: RecordsOutcome) -> Bool {
        outcome.saves.contains { if case .saved(let metadata) = $0 { metadata.zone != zone } else { false } }
    }
}
