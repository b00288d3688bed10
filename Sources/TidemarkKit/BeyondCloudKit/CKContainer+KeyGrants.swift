// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// Keys of encrypted values that devices give to those with whom a zone is shared, because no server has them.
///
/// If the current user's account is end-to-end encrypted, the library gives the keys of a zone to everybody who was invited to it. It does
/// so when a share is saved or fetched, when the zone's keys are first used, and after ``rotateEncryptionKey(of:)``. It encrypts them for
/// the participant's account. A person who is removed gets no key that is made afterwards. A person who joins by a public URL needs the
/// keys in that URL (``urlWithKeys(of:for:)``).
///
/// The server says which public key an account has. A device keeps the first one that it meets, and refuses another one later. To find
/// out whether the first one was right, people compare ``safetyNumber(with:)``.
extension CKContainer {
    /// Gives the keys of a zone of the private database to the participants who lack some. The library does the same by itself. Call this
    /// to know who could not be given any.
    ///
    /// - Returns: the participants who get no keys, by their user record IDs, each with a `CKError`: `permissionFailure` if the server
    ///   keeps the account's key (``TidemarkConfiguration/allowsEscrowedParticipants``), `serverRejectedRequest` with
    ///   ``CKError/changedKeyUserRecordID`` if the account has another public key than before, `serverRejectedRequest` if it has none yet.
    /// - Throws: `CKError`: `zoneNotFound`, `accountTemporarilyUnavailable` if this device does not have the account's key,
    ///   `permissionFailure` for a zone of another: an administrator of a share gives no keys, because participants believe the owner alone.
    @discardableResult
    public func grantKeys(of zoneID: CKRecordZone.ID) async throws -> [CKRecord.ID: any Error] {
        let refused = try await privateCloudDatabase.cloud.grantKeys(of: zoneID)
        return Dictionary(refused.map { (CKRecord.ID(recordName: $0.key), $0.value) }) { first, _ in first }
    }

    /// A number for two people to compare: twelve groups of five digits. It shows whether the server has told one of them a wrong public
    /// key of the other. It also shows whether the server has wrongly claimed that no server has the other's key. Both have the same one if
    /// both know the right keys.
    ///
    /// Compare it by a way that the server's operator cannot change: read it to each other.
    ///
    /// - Parameter userRecordID: the other's, as it is in shares.
    /// - Throws: `CKError`: `unknownItem` if this device has no key of that user yet, `accountTemporarilyUnavailable` if it does not have
    ///   the account's own key.
    public func safetyNumber(with userRecordID: CKRecord.ID) async throws -> String {
        try await privateCloudDatabase.cloud.safetyNumber(with: userRecordID.recordName)
    }

    /// Lets this device accept a new public key of a user: the next one that the server gives. Call it if the person says that the keys of
    /// their account were made again. Compare ``safetyNumber(with:)`` afterwards.
    public func acceptChangedKey(of userRecordID: CKRecord.ID) async throws {
        try await privateCloudDatabase.cloud.forgetKey(of: userRecordID.recordName)
    }
}

extension CKError {
    private static let changedKeyUserKey = "TidemarkChangedKeyUser"

    /// The user whose public key differs from the one that this device knows. Either the account's keys were made again, or somebody tries
    /// to impersonate that user. Nil for all other errors.
    ///
    /// Keys of encrypted values are neither given to that user nor taken from them, until the app calls
    /// `CKContainer.acceptChangedKey(of:)`.
    public var changedKeyUserRecordID: CKRecord.ID? {
        (userInfo[Self.changedKeyUserKey] as? String).map { CKRecord.ID(recordName: $0) }
    }

    init(changedKeyOf person: String) {
        self.init(
            .serverRejectedRequest,
            message: "The user's public key is another one than this device knows. Ask the person whether their "
                + "account's keys were made anew. If so, call CKContainer.acceptChangedKey(of:), and compare the safety "
                + "number.",
            userInfo: [Self.changedKeyUserKey: person])
    }
}
