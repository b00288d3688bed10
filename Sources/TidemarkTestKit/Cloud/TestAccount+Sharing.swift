// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import TidemarkKit

/// Two accounts that share a zone, without the code of an app that does so.
extension TestAccount {
    /// Shares a zone of this account with another account, which joins at once. When this returns, the zone is in the
    /// other's shared database.
    ///
    /// The zone is created if it is not there, and so is its share. A share that is there gets one more participant. An
    /// account that takes part already gets the permission.
    ///
    /// ```swift
    /// let (alice, bob) = (cloud.account("alice"), cloud.account("bob"))
    /// let list = try await alice.share(CKRecordZone.ID(zoneName: "Shopping"), with: bob)
    /// let milk = CKRecord(recordType: "Item", recordID: CKRecord.ID(recordName: "milk", zoneID: list))
    /// try await bob.sharedDatabase.save(milk)
    /// ```
    ///
    /// - Parameters:
    ///   - zoneID: in this account's private database.
    ///   - guest: of the same cloud. An account of another one is a mistake in the test, and stops it.
    ///   - permission: what the guest may do.
    /// - Returns: the zone's ID in the guest's shared database, with this account's user as its owner.
    /// - Throws: `CKError`: the error of one of the requests.
    @discardableResult
    public func share(
        _ zoneID: CKRecordZone.ID, with guest: TestAccount,
        permission: CKShare.ParticipantPermission = .readWrite
    ) async throws -> CKRecordZone.ID {
        let url = try await invite(guest, to: zoneID, permission: permission)
        return try await guest.join(url).recordID.zoneID
    }

    /// Shares a record of this account, with all that is below it by `parent`, with another account, which joins at once
    /// . When this returns, the records are in the other's shared database.
    ///
    /// The record must be there. Its share is made if it has none. A share that is there gets one more participant. An
    /// account that takes part already gets the permission.
    ///
    /// ```swift
    /// let list = CKRecord(recordType: "List", recordID: CKRecord.ID(recordName: "food", zoneID: lists))
    /// try await alice.database.save(list)
    /// let shared = try await alice.share(root: list.recordID, with: bob)
    /// let milk = CKRecord(recordType: "Item", recordID: CKRecord.ID(recordName: "milk", zoneID: shared.zoneID))
    /// milk.setParent(shared)
    /// try await bob.sharedDatabase.save(milk)
    /// ```
    ///
    /// - Parameters:
    ///   - rootID: of a record in this account's private database.
    ///   - guest: of the same cloud. An account of another one is a mistake in the test, and stops it.
    ///   - permission: what the guest may do.
    /// - Returns: the record's ID in the guest's shared database, with this account's user as the zone's owner.
    /// - Throws: `CKError`: the error of one of the requests, such as `alreadyShared` if the record is in another share
    ///
    @discardableResult
    public func share(
        root rootID: CKRecord.ID, with guest: TestAccount, permission: CKShare.ParticipantPermission = .readWrite
    ) async throws -> CKRecord.ID {
        let url = try await invite(guest, toRoot: rootID, permission: permission)
        let zoneID = try await guest.join(url).recordID.zoneID
        return CKRecord.ID(recordName: rootID.recordName, zoneID: zoneID)
    }

    private func join(_ url: URL) async throws -> CKShare {
        try await otherContainer.accept(try await otherContainer.shareMetadata(for: url))
    }

    /// Invites another account to a zone of this one, which does not join yet. Use it to test how an app joins,
    /// and its failures. Call ``TestDevice/loseNextAnswer()`` or ``TestDevice/cutConnections()`` of the guest's device,
    /// and pass the URL to the app.
    ///
    /// Everybody may join a public share, so nobody is invited to it; its URL is returned.
    ///
    /// - Parameters: as for ``share(_:with:permission:)``.
    /// - Returns: the URL of the share.
    /// - Throws: `CKError`: the error of one of the requests.
    public func invite(
        _ guest: TestAccount, to zoneID: CKRecordZone.ID, permission: CKShare.ParticipantPermission = .readWrite
    ) async throws -> URL {
        let share = try await share(of: zoneID)
        try await add(guest, permission, to: share)
        try await database.save(share)
        return try await url(of: share)
    }

    /// Invites another account to a record of this one and all that is below it. The guest does not join yet. All else is as
    /// for a zone.
    ///
    /// - Parameters: as for ``share(root:with:permission:)``.
    /// - Returns: the URL of the share.
    /// - Throws: `CKError`: the error of one of the requests.
    public func invite(
        _ guest: TestAccount, toRoot rootID: CKRecord.ID, permission: CKShare.ParticipantPermission = .readWrite
    ) async throws -> URL {
        let root = try await database.record(for: rootID)
        var share: CKShare?
        if let shareID = root.share?.recordID { share = try await database.record(for: shareID) as? CKShare }
        // A new share is saved with its root.
        let records = share.map { [$0] } ?? [root, CKShare(rootRecord: root)]
        guard let last = records.last as? CKShare else { preconditionFailure("the last of these is the share") }
        try await add(guest, permission, to: last)
        do {
            let results = try await database.modifyRecords(saving: records, deleting: [], atomically: true)
            for result in results.saveResults.values { _ = try result.get() }
        } catch let error as CKError where error.code == .partialFailure {
            // The share's own error is more precise than the error of its root, which was refused with it.
            throw error.partialErrorsByItemID?[last.recordID] ?? error
        }
        return try await url(of: last)
    }

    /// Nobody is invited to a public share.
    private func add(
        _ guest: TestAccount, _ permission: CKShare.ParticipantPermission, to share: CKShare
    ) async throws {
        precondition(guest.core === core, "The account \(guest.name) is of another TestCloud.")
        guard share.publicPermission == .none else { return }
        let guestID = try await guest.otherContainer.userRecordID()
        let participant = try await otherContainer.shareParticipant(forUserRecordID: guestID)
        participant.permission = permission
        share.addParticipant(participant)
    }

    private func url(of share: CKShare) async throws -> URL {
        guard let url = (try await database.record(for: share.recordID) as? CKShare)?.url else {
            preconditionFailure("a share that was saved has a URL")
        }
        return url
    }

    /// The zone's share, or a new one.
    private func share(of zoneID: CKRecordZone.ID) async throws -> CKShare {
        let id = CKRecord.ID(recordName: CKRecordNameZoneWideShare, zoneID: zoneID)
        do {
            if let share = try await database.record(for: id) as? CKShare { return share }
        } catch let error as CKError where error.code == .zoneNotFound {
            try await database.save(CKRecordZone(zoneID: zoneID))
        } catch let error as CKError where error.code == .unknownItem {
            // The zone is not shared yet.
        }
        return CKShare(recordZoneID: zoneID)
    }
}
