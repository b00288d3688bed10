// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// Encrypted values in shared zones of accounts with end-to-end encryption. No server can hand their keys on.
extension CKContainer {
    /// The share's URL with the keys of the zone's encrypted values at its end, after `#`. A person who accepts the share by this URL can
    /// read and save encrypted values on that device. It does not matter which accounts are end-to-end encrypted. The library never sends
    /// that part of a URL to any server.
    ///
    /// Send the URL by a way that the server's operator cannot read or change. Anyone who has the URL, and can read the server's data, can
    /// read the zone's encrypted values. After ``rotateEncryptionKey(of:)`` everybody needs a new URL, and accepts the share by it once
    /// more. A device that has accepted by such a URL no longer takes the zone's keys from a server.
    ///
    /// - Parameters:
    ///   - share: a saved share of the private database, or one that the current user has joined by such a URL.
    ///   - participantID: for the participant's one-time URL.
    /// - Throws: `CKError`: `invalidArguments` if the share has no such URL, or `zoneNotFound`. `accountTemporarilyUnavailable` if this
    ///   device does not have the account's key. `serverRejectedRequest` if it does not have the zone's newest key.
    public func urlWithKeys(
        of share: CKShare, for participantID: CKShare.Participant.ID? = nil
    ) async throws -> URL {
        let url = if let participantID { share.oneTimeURL(for: participantID) } else { share.url }
        guard let url else { throw CloudDatabase.noURL }
        let zoneID = share.recordID.zoneID
        let database = zoneID.ownerName == CKCurrentUserDefaultName ? privateCloudDatabase : sharedCloudDatabase
        return try await database.cloud.urlWithKeys(url, of: zoneID)
    }

    /// A number for people to compare: twelve groups of five digits. It shows whether somebody has exchanged the keys of a shared zone, or
    /// hides a newer key. Owner and participants have the same one as long as all encrypt with the same key.
    ///
    /// Compare it by a way that the server's operator cannot change: read it to each other. It is another one after
    /// ``rotateEncryptionKey(of:)``. It does not reveal the key.
    ///
    /// - Parameter zoneID: of the private database, or of the shared one.
    /// - Throws: `CKError`: `zoneNotFound`, `serverRejectedRequest` or `accountTemporarilyUnavailable` if this device does not have
    ///   the zone's newest key.
    public func safetyNumber(of zoneID: CKRecordZone.ID) async throws -> String {
        let isOwn = zoneID.ownerName == CKCurrentUserDefaultName
        return try await (isOwn ? privateCloudDatabase : sharedCloudDatabase).cloud.safetyNumber(of: zoneID)
    }
}
