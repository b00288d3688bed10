// SPDX-License-Identifier: Apache-2.0

/// A user who opens a share, with its URL or because they were invited (R-315 … R-317).
package struct ShareVisitor: Sendable, Hashable {
    package let user: UserID
    /// The verified addresses of the user's account, in their normal form.
    package let addresses: Set<String>
    /// The secret of the URL with which they come. Nil if they come without one: then they must be invited or take part.
    package let secret: [UInt8]?
    /// The secret of the one-time link with which they come, instead of the URL.
    package let linkSecret: [UInt8]?
    /// The name of the CKShare record that they open without a link; nil: the share of the whole zone.
    package let shareName: String?
    /// The SHA-256 of the secret of the share's URL, by which the link was looked up; nil: none was.
    package let linkHash: [UInt8]?

    package init(
        user: UserID, addresses: Set<String> = [], secret: [UInt8]? = nil, linkSecret: [UInt8]? = nil,
        shareName: String? = nil, linkHash: [UInt8]? = nil
    ) {
        self.linkHash = linkHash
        self.shareName = shareName
        self.user = user
        self.addresses = addresses
        self.secret = secret
        self.linkSecret = linkSecret
    }

    /// The same user, who comes with a URL.
    ///
    /// - Parameter hash: by which the link was looked up.
    package func bringing(_ key: ShareKey, foundBy hash: [UInt8]? = nil) -> ShareVisitor {
        switch key {
        case .zone(let secret): ShareVisitor(user: user, addresses: addresses, secret: secret, linkHash: hash)
        case .oneTime(let secret): ShareVisitor(user: user, addresses: addresses, linkSecret: secret, linkHash: hash)
        }
    }

    /// The same user, opening this share with its URL.
    func coming(to share: Share, with secret: [UInt8]?) -> ShareVisitor {
        ShareVisitor(user: user, addresses: addresses, secret: secret ?? [], shareName: share.recordName)
    }
}

/// The thing that a link opens.
package enum ShareKey: Sendable, Hashable {
    /// The share of the zone that has this secret.
    case zone([UInt8])
    /// One participant's place, by the secret of their one-time link.
    case oneTime([UInt8])
}

/// The way in which a visitor may enter a share.
package enum ShareEntry: Sendable, Hashable {
    case owner
    /// They take part.
    case participant(Participant)
    /// They are invited, and take part once they accept.
    case invited(Participant)
    /// Anybody with the URL may join.
    case publicUser

    /// The visitor's state in the share's metadata.
    package func standing(
        in share: Share
    ) -> (role: ParticipantRole, status: ParticipantStatus, permission: SharePermission) {
        switch self {
        case .owner: (.owner, .accepted, .readWrite)
        case .participant(let row), .invited(let row): (row.role, row.status, row.permission(in: share))
        case .publicUser: (.publicUser, .pending, share.publicPermission)
        }
    }
}

/// The outcome of an acceptance.
package struct ShareAcceptance: Sendable, Hashable {
    /// The changes to write; nil if the visitor had accepted before.
    package let changes: SharingChanges?
}

extension ZoneSharing {
    /// The living share that the visitor may open, and how.
    ///
    /// Nil means `shareUnknown`. The answer is the same if there is no such share, if it has ended, and if the visitor is not invited or
    /// was removed.
    package func entry(of visitor: ShareVisitor) -> (share: Share, entry: ShareEntry)? {
        guard let share = share(for: visitor) else { return nil }
        if visitor.user == owner { return (share, .owner) }
        if let row = row(of: visitor.user, in: share.number), row.isLiving {
            return (share, row.hasAccepted ? .participant(row) : .invited(row))
        }
        // for a blocked user there is no such share.
        if isBlocked(visitor.user, in: share.number) { return nil }
        if let secret = visitor.linkSecret {
            // a user who took the link is found above. For everybody else there is no such link.
            guard let row = row(ofLink: secret, in: share.number), row.isUntakenLink else { return nil }
            return (share, .invited(row))
        }
        if let row = invitation(of: visitor, in: share.number) { return (share, .invited(row)) }
        return share.isPublic && visitor.secret != nil ? (share, .publicUser) : nil
    }

    /// The living share. Nil if the visitor comes with another URL than the zone's. Then the zone of that URL is gone, and this one has the
    /// same name. This is decided under the lock, because the zone may have been made again since the link was looked up.
    ///
    /// A one-time link dies with its participant.
    func share(for visitor: ShareVisitor) -> Share? { entryShares(of: visitor).first }

    /// The same as a list of one or none. Each share is examined, so that the time reveals nothing about the secrets.
    func entryShares(of visitor: ShareVisitor) -> [Share] {
        if let linkSecret = visitor.linkSecret {
            // NB: a share that was not asked for is not examined. The visitor's own row in it may be here.
            return livingShares.filter { hasPeople(of: $0.number) && row(ofLink: linkSecret, in: $0.number) != nil }
        }
        if let secret = visitor.secret { return livingShares.filter { self.secret(of: $0) == secret } }
        if let name = visitor.shareName { return livingShare(named: name).map { [$0] } ?? [] }
        return livingShare.map { [$0] } ?? []
    }

    /// The living row with that one-time link. Each row is compared in full, so that the time reveals nothing about the secrets.
    fileprivate func row(ofLink secret: [UInt8], in share: ShareNumber) -> Participant? {
        var found: Participant?
        for row in rows(of: share) where row.isLiving {
            guard let own = row.linkSecret, !own.isEmpty, own.count == secret.count else { continue }
            if zip(own, secret).reduce(UInt8(0), { $0 | ($1.0 ^ $1.1) }) == 0 { found = row }
        }
        return found
    }

    /// The pending row that an address of the visitor opens. If several addresses are invited, the one that allows most,
    /// then the first in alphabetical order.
    private func invitation(of visitor: ShareVisitor, in share: ShareNumber) -> Participant? {
        func rank(_ row: Participant) -> (Int, Int, String) {
            let role = row.role == .administrator ? 0 : 1
            return (role, -Int(row.permission.rawValue), row.address ?? "")
        }
        let addressed = rows(of: share).filter { row in
            row.isPending && row.user == nil && row.address.map(visitor.addresses.contains) ?? false
        }
        return addressed.min { rank($0) < rank($1) }
    }
}

extension ShareVisitor {
    /// Decides an acceptance.
    ///
    /// - Parameters:
    ///   - sharing: the zone's, with all participants of the share and all parts of the visitor; nil if the zone is gone or the URL leads
    ///     nowhere.
    ///   - id: a random ID for the row of a public user.
    ///   - number: the number of the change, if it is one.
    package func accepting(
        in sharing: ZoneSharing?, as id: ParticipantID, at number: ChangeNumber, now: Timestamp, limits: Limits
    ) -> Result<ShareAcceptance, FailureReason> {
        guard let sharing, let (share, entry) = sharing.entry(of: self) else { return .failure(.shareUnknown) }
        precondition(sharing.hasPeople(of: share.number))
        let former = sharing.row(of: user, in: share.number)
        var changes = SharingChanges(share.number, at: number)
        switch entry {
        case .owner: return .failure(.shareIsOwn)
        case .participant: return .success(ShareAcceptance(changes: nil))
        case .invited, .publicUser:
            // each page of the user's feed looks into each of their shares.
            if sharing.partCount(of: user) >= limits.zonePartsMax { return .failure(.tooManyParts) }
        }
        switch entry {
        case .owner, .participant: break
        case .invited(let row):
            changes.updated = [row.accepted(by: user, at: number, since: sharing.accessBegin(of: user))]
            // The user has one row: the one that lives takes the place of the one that ended.
            if let former, former.id != row.id { changes.forgotten = [former.id] }
            // a user who has joined no longer waits for an answer.
            if sharing.request(of: user, in: share.number) != nil { changes.droppedRequests = [user] }
        case .publicUser:
            // who joins counts, and so does the owner.
            guard sharing.livingCount(in: share.number) + 1 < limits.participantsMax else {
                return .failure(.tooManyParticipants)
            }
            let row = Participant.joining(
                user, as: former?.id ?? id, at: number, since: sharing.accessBegin(of: user), now: now)
            if former == nil { changes.inserted = [row] } else { changes.updated = [row] }
            if sharing.request(of: user, in: share.number) != nil { changes.droppedRequests = [user] }
            changes.forgotten = sharing.forgettableRows(of: share.number, but: [row.id], limits: limits)
        }
        return .success(ShareAcceptance(changes: changes))
    }

    /// Ends the visitor's invitations and participation. Nil if there is nothing to end: that succeeds with the same answer.
    ///
    /// If nobody took a one-time link, anyone who has it can decline it.
    package func declining(in sharing: ZoneSharing?, at number: ChangeNumber) -> SharingChanges? {
        guard let sharing, let share = sharing.share(for: self) else { return nil }
        // A visitor without a link and without an address has one row.
        precondition(sharing.hasPeople(of: share.number) || linkSecret == nil && addresses.isEmpty)
        let link = linkSecret.flatMap { sharing.row(ofLink: $0, in: share.number) }
        let rows = sharing.rows(of: share.number).filter { row in
            guard row.isLiving else { return false }
            if let owner = row.user { return owner == user }
            return row.id == link?.id || row.address.map(addresses.contains) ?? false
        }
        return SharingChanges.ending(rows, of: share.number, at: number)
    }
}

extension ZoneSharing {
    /// Whether a user takes part in the living share, or is invited to it by name.
    package func hasPlace(of user: UserID) -> Bool {
        livingShares.contains { row(of: user, in: $0.number)?.isLiving ?? false }
    }

    /// A participant leaves a share in which they take part. Nil if the user takes no part: there is nothing to do.
    func leaving(_ user: UserID, at number: ChangeNumber) -> SharingChanges? {
        for share in livingShares {
            guard let row = row(of: user, in: share.number), row.hasAccepted else { continue }
            return SharingChanges.ending([row], of: share.number, at: number)
        }
        return nil
    }

    /// One participant is removed, or one invitation ends. Nil if nobody has that ID.
    func removing(_ id: ParticipantID, at number: ChangeNumber) -> SharingChanges? {
        for share in livingShares where hasPeople(of: share.number) {
            guard let row = participants[share.number]?[id], row.isLiving else { continue }
            return SharingChanges.ending([row], of: share.number, at: number)
        }
        return nil
    }

    /// The owner ends a share by deleting its CKShare record. Nil if none lives.
    ///
    /// One row is written, however many take part.
    package func ending(shareNamed recordName: String, at number: ChangeNumber) -> SharingChanges? {
        guard var share = livingShare(named: recordName) else { return nil }
        share.endedNumber = number
        var changes = SharingChanges(share.number, at: number)
        changes.updatedShare = share
        return changes
    }
}

extension SharingChanges {
    /// Nil if there are no rows.
    fileprivate static func ending(
        _ rows: [Participant], of share: ShareNumber, at number: ChangeNumber
    ) -> SharingChanges? {
        guard !rows.isEmpty else { return nil }
        var changes = SharingChanges(share, at: number)
        changes.ended = rows.map { $0.ended(at: number) }.sorted { $0.id < $1.id }
        return changes
    }
}
