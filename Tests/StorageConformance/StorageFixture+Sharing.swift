// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkFields
internal import TidemarkService

/// A zone of alice with a living share, and bob, who comes and goes.
struct SharedZone: Sendable {
    let key: ZoneKey
    let zone: ZoneID
    let share: ShareNumber
    let owner: Identity
    let viewer: Identity

    /// Bob's shared database.
    var list: DatabaseID { viewer.sharedDatabase }
    var access: SharingRead { .access(of: [viewer.user]) }
}

extension StorageConformance {
    /// The container of the fixture's identities.
    static let container = ContainerKey(identifier: "iCloud.test", environment: .development)
    static let secret = [UInt8](repeating: 0x5E, count: 16)

    static func participant(_ number: UInt64) -> ParticipantID { ParticipantID(high: number << 60 | 7, low: ~number) }
}

extension StorageFixture {
    /// Makes a zone of alice, and shares it. Nobody takes part yet, and anybody may join.
    func shareZone(
        _ name: String, publicPermission: SharePermission = .readWrite, inviting rows: [Participant] = []
    ) async throws -> SharedZone {
        let (owner, viewer) = (try await alice(), try await bob())
        let zone = try require(try await createZones(name, in: owner.privateDatabase).first, "a zone")
        let share = try await beginShare(in: zone.key, publicPermission: publicPermission, inviting: rows)
        return SharedZone(key: zone.key, zone: zone.id, share: share, owner: owner, viewer: viewer)
    }

    /// Shares a zone that is there, for the first time or again.
    func beginShare(
        in key: ZoneKey, publicPermission: SharePermission = .readWrite, inviting rows: [Participant] = []
    ) async throws -> ShareNumber {
        let number = try await changeShares(in: key) { sharing, number in
            var changes = SharingChanges(ShareNumber(number), at: number)
            changes.insertedShare = Share(number: ShareNumber(number), publicPermission: publicPermission)
            if sharing.secret == nil { changes.insertedSecret = StorageConformance.secret }
            changes.inserted = rows
            return changes
        }
        return ShareNumber(try require(number, "the zone is shared"))
    }

    /// As an acceptance does it: the pointer first, and then the change at the owner.
    ///
    /// - Parameter ends: whether somebody ends the zone meanwhile, which may then be missing.
    /// - Returns: the number of the change; nil if the viewer took part already, or could not join.
    @discardableResult
    func accept(
        _ zone: SharedZone, on storage: (any Storage)? = nil, whichMayEnd ends: Bool = false
    ) async throws -> ChangeNumber? {
        try await point(zone, on: storage, whichMayEnd: ends)
        return try await join(zone, on: storage, whichMayEnd: ends)
    }

    /// The first half of an acceptance.
    func point(_ zone: SharedZone, on storage: (any Storage)? = nil, whichMayEnd ends: Bool = false) async throws {
        let pointed = try await (storage ?? first).pointViewer(
            zone.list, to: zone.key, atMost: Limits().sharedZonesMax)
        if ends, pointed == .zoneMissing { return }
        try expectEqual(pointed, .done, "the zone lives, and the list has room")
    }

    /// The second half of an acceptance.
    @discardableResult
    func join(
        _ zone: SharedZone, on storage: (any Storage)? = nil, whichMayEnd ends: Bool = false
    ) async throws -> ChangeNumber? {
        let visitor = ShareVisitor(user: zone.viewer.user, secret: StorageConformance.secret)
        return try await changeShares(in: zone.key, on: storage, whichMayEnd: ends) { sharing, number in
            let acceptance = visitor.accepting(
                in: sharing, as: StorageConformance.participant(UInt64(number)), at: number, now: Self.now,
                limits: Limits())
            return (try? acceptance.get())?.changes
        }
    }

    /// Ends the viewer's participation. A removal by the owner writes the same.
    @discardableResult
    func leave(
        _ zone: SharedZone, on storage: (any Storage)? = nil, whichMayEnd ends: Bool = false
    ) async throws -> ChangeNumber? {
        let user = zone.viewer.user
        return try await changeShares(in: zone.key, on: storage, whichMayEnd: ends) { sharing, number in
            ShareVisitor(user: user).declining(in: sharing, at: number)
        }
    }

    /// Invites the viewer again, whose row lives then and grants nothing yet.
    @discardableResult
    func inviteAgain(_ zone: SharedZone) async throws -> ChangeNumber? {
        let user = zone.viewer.user
        return try await changeShares(in: zone.key) { sharing, number in
            guard let share = sharing.livingShare,
                let row = sharing.participants[share.number]?.values.first(where: { $0.user == user && !$0.isLiving })
            else { return nil }
            var changes = SharingChanges(share.number, at: number)
            changes.updated = [Participant(id: row.id, user: user, addedAt: Self.now)]
            return changes
        }
    }

    /// The owner stops sharing.
    @discardableResult
    func endShare(in key: ZoneKey) async throws -> ChangeNumber? {
        try await changeShares(in: key) { sharing, number in
            sharing.ending(shareNamed: Share.zoneWideName, at: number)
        }
    }

    /// Writes what is made of a zone's shares under its lock, with a new version of the CKShare record.
    ///
    /// - Returns: the number of the change; nil if there is none.
    @discardableResult
    func changeShares(
        in key: ZoneKey, on storage: (any Storage)? = nil, whichMayEnd ends: Bool = false,
        _ decide: @Sendable (ZoneSharing, ChangeNumber) -> SharingChanges?
    ) async throws -> ChangeNumber? {
        var read = key.read(records: [Share.zoneWideName])
        read.sharing = .whole
        let transaction = try await (storage ?? first).beginWrite([read])
        let snapshot = try require(transaction.snapshots.first, "a snapshot a read")
        let number = (snapshot.zone?.changeNumber ?? 0) + 1
        guard let sharing = snapshot.sharing, let changes = decide(sharing, number) else {
            await transaction.rollback()
            try expect(ends || snapshot.sharing != nil, "the zone lives, and its shares were asked for")
            return nil
        }
        let written = snapshot.changes([changes], names: [Share.zoneWideName])
        try await transaction.commit([try require(written, "the zone lives")])
        return number
    }
}

extension ZoneSnapshot {
    /// Changes of shares, with new versions of these records: one for each number, the last of them of the CKShare.
    func changes(_ sharing: [SharingChanges], names: [String]) -> ZoneChanges? {
        guard let zone else { return nil }
        let isEnd = sharing.last?.updatedShare.map { !$0.isLiving } ?? false
        let records = names.enumerated().map { index, name in
            let number = zone.changeNumber + 1 + ChangeNumber(index)
            return RecordState(
                name: name, type: name == Share.zoneWideName ? Share.recordType : "Note", fields: FieldMap(),
                changeNumber: number, isDeleted: isEnd && name == Share.zoneWideName, parent: nil,
                createdAt: StorageFixture.now, createdBy: UserID(11), createdByDevice: DeviceID(high: 1, low: 1),
                modifiedAt: StorageFixture.now, modifiedBy: UserID(11), batchEnd: number)
        }
        let tombstoneGrowth: Int64 = records.reduce(0) {
            $0 + $1.tombstoneBytes - (self.records[$1.name]?.tombstoneBytes ?? 0)
        }
        return ZoneChanges(
            database: key.database, zone: zone.id, changeNumber: zone.changeNumber + ChangeNumber(names.count),
            records: records, replaced: replaced(by: records), tombstoneGrowth: tombstoneGrowth, memories: [:],
            clientTokensMax: Limits().clientTokensMax, sharing: sharing)
    }
}

extension ZoneKey {
    /// The page of one who reads the zone in the shared database.
    func page(
        for viewer: UserID, after: ZonePageQuery.Position? = nil, recordsMax: Int = 100
    ) -> ZonePageQuery {
        let access = RecordAccess(scope: .shared, user: viewer)
        return ZonePageQuery(
            key: self, after: after, recordsMax: recordsMax, bytesMax: 1_000_000, device: DeviceID(high: 9, low: 9),
            reader: access, tombstonesPassedMax: Limits().tombstonesPassedMax)
    }
}

extension ZoneSharing {
    /// Whether a user has access now.
    func admits(_ user: UserID) -> Bool { ShareAccess(of: user, in: self).isParticipant }

    /// The number of the change that gave a user the access that they have; nil if they have none.
    func begin(of user: UserID) -> ChangeNumber? {
        guard admits(user), let share = livingShare else { return nil }
        return participants[share.number]?.values.first { $0.user == user }?.acceptedNumber
    }
}

/// Whether shares, all rows and what is known of them are the same. The secret is compared if all was read.
func expectSharing(_ sharing: ZoneSharing?, _ expected: ZoneSharing, _ promise: String) throws {
    let sharing = try require(sharing, promise)
    try expectEqual(sharing.owner, expected.owner, "\(promise): the owner")
    try expectEqual(sharing.isWhole, expected.isWhole, "\(promise): whether it is all")
    try expectEqual(sharing.shares, expected.shares, "\(promise): the shares")
    func rows(_ sharing: ZoneSharing) -> [ShareNumber: [ParticipantID: Participant]] {
        sharing.participants.filter { !$0.value.isEmpty }
    }
    try expectEqual(rows(sharing), rows(expected), "\(promise): the participants")
    func requests(_ sharing: ZoneSharing) -> [ShareNumber: [UserID: AccessRequest]] {
        sharing.requests.filter { !$0.value.isEmpty }
    }
    guard expected.isWhole else { return try expectEqual(requests(sharing), [:], "\(promise): no requests") }
    try expectEqual(sharing.secret, expected.secret, "\(promise): the secret")
    try expectEqual(requests(sharing), requests(expected), "\(promise): requests for access")
}
