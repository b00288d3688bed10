// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// Keys of `encryptedValues`. CloudKit has no such API, because Apple's platforms handle keys themselves.
///
/// The server's operator chooses for each account. Either the server keeps the account's key (*escrowed*, the default),
/// or no server ever has it (*end-to-end*). With end-to-end encryption, further devices need the key from a device that
/// has it. A device without it gets `accountTemporarilyUnavailable` for each record with encrypted values, to read or
/// to save.
extension CKContainer {
    /// The current user's key for this container, to write down or carry to another device. Anybody who has it, and can
    /// read the server's data, can read all encrypted values.
    ///
    /// If the account has no key yet, this creates it.
    /// - Returns: ten groups of six letters and digits.
    /// - Throws: `CKError`: `invalidArguments` if the server keeps the account's key, or
    ///   `accountTemporarilyUnavailable` if this device does not have it.
    public func exportRecoveryKey() async throws -> String {
        RecoveryKey.text(of: try await privateCloudDatabase.cloud.exportAccountKey())
    }

    /// Gives this device the current user's key, as ``exportRecoveryKey()`` showed it on another device. Sync engines
    /// then fetch what they could not read before.
    ///
    /// - Parameter recoveryKey: case, spaces and hyphens do not matter.
    /// - Throws: `CKError`: `invalidArguments` if it contains a mistake, belongs to another account, or is not needed.
    public func importRecoveryKey(_ recoveryKey: String) async throws {
        try await privateCloudDatabase.cloud.importAccountKey(try RecoveryKey.key(of: recoveryKey))
    }

    /// Gives a zone of the private database a new key. It encrypts values that are saved from now on. The server refuses values under older
    /// keys, and other devices encrypt them again. Older values stay as they are, and readable. A zone can have 100 keys. A server of an
    /// older version still accepts values under older keys.
    ///
    /// - Throws: `CKError`: `zoneNotFound`, `limitExceeded`, `zoneBusy` if others add keys all the time,
    ///   `accountTemporarilyUnavailable` if this device does not have the account's key.
    public func rotateEncryptionKey(of zoneID: CKRecordZone.ID) async throws {
        try await privateCloudDatabase.cloud.rotateKey(of: zoneID)
    }
}
