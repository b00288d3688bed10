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
        let container = guest.otherContainer
        let share = try await container.accept(try await container.shareMetadata(for: url))
        return share.recordID.zoneID
    }

    /// Invites another account to a zone of this one, which does not join yet. Use it to test how an app joins,
    /// and what may go wrong meanwhile: call ``TestDevice/loseNextAnswer()`` or ``TestDevice/cutConnections()`` of the
    /// guest's device, and pass the URL to the app.
    ///
    /// Everybody may join a public share, so nobody is invited to it; its URL is returned.
    ///
    /// - Parameters: as of ``share(_:with:permission:)``.
    /// - Returns: the URL of the share.
    /// - Throws: `CKError`: the error of one of the requests.
    public func invite(
        _ guest: TestAccount, to zoneID: CKRecordZone.ID, permission: CKShare.ParticipantPermission = .readWrite
    ) async throws -> URL {
        precondition(guest.core === core, "The account \(guest.name) is of another TestCloud.")
        let share = try await share(of: zoneID)
        if share.publicPermission == .none {
            let guestID = try await guest.otherContainer.userRecordID()
            let participant = try await otherContainer.shareParticipant(forUserRecordID: guestID)
            participant.permission = permission
            share.addParticipant(participant)
        }
        try await database.save(share)
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
