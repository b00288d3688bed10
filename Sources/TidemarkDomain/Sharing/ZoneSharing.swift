// SPDX-License-Identifier: Apache-2.0

/// The shares of one zone with their participants, living and ended, as one transaction or statement read them.
package struct ZoneSharing: Hashable, Sendable {
    /// The user whose zone it is.
    package let owner: UserID
    package private(set) var shares: [ShareNumber: Share]
    package private(set) var participants: [ShareNumber: [ParticipantID: Participant]]
    /// The requests for access and the blocked users, by user. Only if all participants were read.
    package private(set) var requests: [ShareNumber: [UserID: AccessRequest]]
    /// The secret of the zone's URL; nil: the zone was never shared. Another share of the zone has the same URL.
    package private(set) var secret: [UInt8]?
    /// Whether all participants of living shares were read; to be shown, those who have not ended. For the access of some
    /// users their own rows are enough. For a change of a share they are not.
    package let isWhole: Bool
    /// Otherwise: the living shares whose people were all read.
    package private(set) var wholeShares: Set<ShareNumber>
    /// The names of the owner and of those who have accepted, as far as they have some. Empty unless the shares were
    /// read to be shown (``SharingRead/shown(to:)``).
    package let personNames: [UserID: PersonName]
    /// The rows of users, so that a user's access is found as fast among many participants as among few.
    private var rowIDs: [ShareNumber: [UserID: ParticipantID]]

    package init(
        owner: UserID, shares: [Share] = [], participants: [ShareNumber: [Participant]] = [:],
        requests: [ShareNumber: [AccessRequest]] = [:], secret: [UInt8]? = nil, isWhole: Bool = true,
        wholeShares: Set<ShareNumber> = [], personNames: [UserID: PersonName] = [:]
    ) {
        self.owner = owner
        self.shares = Dictionary(shares.map { ($0.number, $0) }) { _, last in last }
        let participants = participants.mapValues { rows in
            Dictionary(rows.map { ($0.id, $0) }) { _, last in last }
        }
        self.participants = participants
        rowIDs = participants.mapValues(Self.rowsOfUsers)
        self.requests = requests.mapValues { rows in
            Dictionary(rows.map { ($0.user, $0) }) { _, last in last }
        }
        self.secret = secret
        self.isWhole = isWhole
        self.wholeShares = wholeShares
        self.personNames = personNames
    }

    /// The living share of the whole zone. There is at most one, and then no hierarchy is shared.
    package var livingShare: Share? { shares.values.first { $0.isLiving && !$0.isOfHierarchy } }

    /// The living shares of hierarchies, in the order in which they were made.
    package var hierarchies: [Share] {
        shares.values.filter { $0.isLiving && $0.isOfHierarchy }.sorted { $0.number < $1.number }
    }

    /// How many there are of them.
    var hierarchyCount: Int { shares.values.count { $0.isLiving && $0.isOfHierarchy } }

    /// How many shares, participants and requests were read.
    var rowCount: Int {
        shares.count + participants.values.reduce(0) { $0 + $1.count } + requests.values.reduce(0) { $0 + $1.count }
    }

    /// The names of CKShare records of hierarchies, by the names of their roots.
    package var rootShareNames: [String: String] {
        var names: [String: String] = [:]
        for share in shares.values where share.isLiving {
            if let root = share.rootName { names[root] = share.recordName }
        }
        return names
    }

    /// Records with the shares of which they are roots. Their places stay as they are.
    package func namingRoots(_ records: [RecordState]) -> [RecordState] {
        let names = rootShareNames
        return records.map { record in
            record.isDeleted ? record : record.covered(by: record.share, asRootOf: names[record.name])
        }
    }

    /// Whether a living share is of a hierarchy.
    package var hasHierarchies: Bool { shares.values.contains { $0.isLiving && $0.isOfHierarchy } }

    /// All living shares, in the order in which they were made.
    package var livingShares: [Share] { shares.values.filter(\.isLiving).sorted { $0.number < $1.number } }

    /// The living share of the hierarchy that has this root.
    package func hierarchy(rootNamed name: String) -> Share? {
        shares.values.first { $0.isLiving && $0.rootName == name }
    }

    /// The secret of the URL of a share.
    package func secret(of share: Share) -> [UInt8]? { share.isOfHierarchy ? share.rootSecret : secret }

    /// The living share whose CKShare record has that name.
    package func livingShare(named recordName: String) -> Share? {
        shares.values.first { $0.isLiving && $0.recordName == recordName }
    }

    /// The same after a change.
    package func applying(_ changes: SharingChanges) -> ZoneSharing {
        var sharing = self
        for number in changes.forgottenShares {
            sharing.shares[number] = nil
            sharing.participants[number] = nil
            sharing.requests[number] = nil
            sharing.rowIDs[number] = nil
        }
        if let share = changes.insertedShare ?? changes.updatedShare {
            sharing.shares[share.number] = share
            // A new share is known completely.
            if changes.insertedShare != nil, !isWhole { sharing.wholeShares.insert(share.number) }
            if let secret = changes.insertedSecret {
                if share.isOfHierarchy {
                    sharing.shares[share.number]?.rootSecret = secret
                } else {
                    sharing.secret = secret
                }
            }
        }
        var rows = sharing.participants[changes.share] ?? [:]
        for id in changes.forgotten { rows[id] = nil }
        for row in changes.updated + changes.ended + changes.inserted { rows[row.id] = row }
        sharing.participants[changes.share] = rows
        sharing.rowIDs[changes.share] = Self.rowsOfUsers(rows)
        for user in changes.droppedRequests { sharing.requests[changes.share]?[user] = nil }
        for row in changes.updatedRequests + changes.insertedRequests {
            sharing.requests[changes.share, default: [:]][row.user] = row
        }
        return sharing
    }

    // MARK: For the rules

    /// Whether all people of a living share were read.
    package func hasPeople(of share: ShareNumber) -> Bool { isWhole || wholeShares.contains(share) }

    /// In how many living shares the user takes part, if their parts in all of them were read.
    func partCount(of user: UserID) -> Int {
        shares.values.count { $0.isLiving && row(of: user, in: $0.number)?.hasAccepted ?? false }
    }

    func rows(of share: ShareNumber) -> some Collection<Participant> {
        (participants[share] ?? [:]).values
    }

    func row(of user: UserID, in share: ShareNumber) -> Participant? {
        rowIDs[share]?[user].flatMap { participants[share]?[$0] }
    }

    /// Whether the user takes or took part in a share of a hierarchy with this record name.
    func hasRow(of user: UserID, inHierarchyNamed name: String) -> Bool {
        shares.values.contains { $0.isOfHierarchy && $0.recordName == name && row(of: user, in: $0.number) != nil }
    }

    /// The change with which the user's access to the zone began; nil: they have none.
    func accessBegin(of user: UserID) -> ChangeNumber? { ShareAccess(of: user, in: self).begunNumber }

    func request(of user: UserID, in share: ShareNumber) -> AccessRequest? { requests[share]?[user] }

    /// Whether the user cannot enter the share, whatever link or address they use.
    func isBlocked(_ user: UserID, in share: ShareNumber) -> Bool { request(of: user, in: share)?.isBlocked ?? false }

    /// Those who have asked for access and wait for an answer.
    func waitingCount(in share: ShareNumber) -> Int { (requests[share] ?? [:]).values.count { !$0.isBlocked } }

    private static func rowsOfUsers(_ rows: [ParticipantID: Participant]) -> [UserID: ParticipantID] {
        var ids: [UserID: ParticipantID] = [:]
        for row in rows.values {
            if let user = row.user { ids[user] = row.id }
        }
        return ids
    }

    /// Invitations and participations; the owner, who has no row, is one more.
    func livingCount(in share: ShareNumber) -> Int {
        rows(of: share).count { $0.isLiving }
    }

    /// The rows beyond those that a share keeps of ended participants (``Limits/endedParticipantsMax``): those that
    /// ended first.
    ///
    /// - Parameter revived: rows that live again.
    func forgettableRows(of share: ShareNumber, but revived: Set<ParticipantID>, limits: Limits) -> [ParticipantID] {
        let ended = rows(of: share).filter { !$0.isLiving && !revived.contains($0.id) }
        guard ended.count > limits.endedParticipantsMax else { return [] }
        let oldestFirst = ended.sorted { ($0.endedNumber ?? 0, $0.id) < ($1.endedNumber ?? 0, $1.id) }
        return oldestFirst.prefix(ended.count - limits.endedParticipantsMax).map(\.id)
    }

    /// The shares of hierarchies that have ended, and are known still: the oldest first.
    var endedHierarchies: [ShareNumber] {
        shares.values.filter { !$0.isLiving && $0.isOfHierarchy }.map(\.number).sorted()
    }

    /// The same for ended shares (``Limits/endedSharesMax``).
    func forgettableShares(limits: Limits) -> [ShareNumber] {
        let ended = shares.values.filter { !$0.isLiving }.map(\.number).sorted()
        return Array(ended.dropLast(limits.endedSharesMax))
    }
}

extension Participant {
    /// The participant's permission: for a public user, the share's public permission.
    package func permission(in share: Share) -> SharePermission {
        role == .publicUser ? share.publicPermission : permission
    }
}
