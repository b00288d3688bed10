// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// Keys of `encryptedValues`. CloudKit has nothing of this: there the system takes care of it.
///
/// The server's operator chooses for each account whether its server keeps the account's key (*escrowed*, the default), or no
/// server ever has it (*end-to-end*). Then further devices need it from one that has it, and a device without it gets
/// `accountTemporarilyUnavailable` for each record with encrypted values, to read or to save.
extension CKContainer {
    /// The current user's key for this container, to be written down or carried to another device: whoever has it and can
    /// read what the server stores, reads all encrypted values.
    ///
    /// If the account has no key yet, this makes it.
    /// - Returns: ten groups of six letters and digits.
    /// - Throws: `CKError`: `invalidArguments` if the server keeps the account's key, `accountTemporarilyUnavailable` if this
    ///   device does not have it.
    public func exportRecoveryKey() async throws -> String {
        RecoveryKey.text(of: try await privateCloudDatabase.cloud.exportAccountKey())
    }

    /// Gives this device the current user's key, as ``exportRecoveryKey()`` showed it on another one. Sync engines fetch
    /// what they could not read before.
    ///
    /// - Parameter recoveryKey: case, spaces and hyphens do not matter.
    /// - Throws: `CKError`: `invalidArguments` if it has a mistake in it, is of another account, or is not needed.
    public func importRecoveryKey(_ recoveryKey: String) async throws {
        try await privateCloudDatabase.cloud.importAccountKey(try RecoveryKey.key(of: recoveryKey))
    }

    /// Gives a zone of the private database a new key. Values that are saved from now on are encrypted with it, on other
    /// devices soon; what was saved before stays as it is, and readable. A zone can have 100 keys.
    ///
    /// - Throws: `CKError`: `zoneNotFound`, `limitExceeded`, `accountTemporarilyUnavailable` if this device does not have
    ///   the account's key.
    public func rotateEncryptionKey(of zoneID: CKRecordZone.ID) async throws {
        try await privateCloudDatabase.cloud.rotateKey(of: zoneID)
    }
}
