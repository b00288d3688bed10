// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkDomain
public import TidemarkKit

/// An account of a ``TestCloud``: its devices, its data as another device sees it, and an operator's actions on it.
public final class TestAccount: Sendable {
    /// The name given to ``TestCloud/account(_:)``.
    public let name: String
    /// The credential, for apps that sign in themselves (`CKContainer.signIn(token:)`, R-354).
    public let token: String
    let core: TestCore
    private let state: Mutex<State>

    private struct State {
        var devices: Set<String> = []
        var credential: CredentialID
        var other: TestDevice?
    }

    init(_ name: String, in core: TestCore) {
        self.name = name
        self.core = core
        token = "token of \(name)"
        state = Mutex(State(credential: core.issueCredential(token, of: name)))
    }

    /// A new device on which the account is signed in. It has a separate identity.
    ///
    /// - Parameter name: different for each device of the account. Two devices with one name are a mistake in the test,
    ///   and stop it.
    public func device(_ name: String) -> TestDevice {
        let isNew = state.withLock { $0.devices.insert(name).inserted }
        precondition(
            isNew,
            """
            \(self.name) has a device \(name) already. Keep what device(_:) returned, or give the second device a name of \
            its own.
            """)
        return TestDevice(name, token: token, in: core)
    }

    // MARK: Somebody else

    /// The private database, reached from another device of the account, which is always online and has no engine. Its
    /// saves are pushed to the account's other devices. Use it to prepare data, and to see what has arrived.
    public var database: CKDatabase { otherContainer.privateCloudDatabase }

    /// The shared database, reached from the same device as ``database``: what others share with this account.
    public var sharedDatabase: CKDatabase { otherContainer.sharedCloudDatabase }

    /// The container of an app on that device.
    var otherContainer: CKContainer {
        let device = state.withLock { state in
            let device = state.other ?? TestDevice("another device of \(name)", token: token, in: core)
            state.other = device
            return device
        }
        return device.container
    }

    /// Changes a record as another device of the account would, so that a device with the earlier version gets a
    /// conflict.
    ///
    /// - Parameters:
    ///   - recordID: of a record on the server.
    ///   - change: changes the record as it is there.
    /// - Returns: the new record on the server.
    /// - Throws: `CKError`: the error of fetching or saving it.
    @discardableResult
    public func edit(_ recordID: CKRecord.ID, _ change: (CKRecord) -> Void) async throws -> CKRecord {
        let record = try await database.record(for: recordID)
        change(record)
        return try await database.save(record)
    }

    // MARK: Actions of an operator

    /// Sets the name of the account's person, as an operator does. Those who see the person in a share get the name, once the person has
    /// accepted. A device gets it with the next version of the share, or when it fetches its record.
    ///
    /// - Parameters:
    ///   - given: the given name; nil: none. Without both parts the account has no name.
    ///   - family: the family name; nil: none. A part that is longer than 128 bytes, or has a line break, is a mistake in the
    ///     test, and stops it.
    public func setName(given: String?, family: String?) {
        let name = PersonName(given: given ?? "", family: family ?? "")
        precondition(name?.isValid(limits: TestCore.limits) ?? true, "\(self.name) cannot have this name.")
        core.database.setPersonName(name, account: self.name)
    }

    /// From now on the server refuses the account's credential as expired. Connections end, the account's status is
    /// `temporarilyUnavailable`, calls fail with `accountTemporarilyUnavailable`, and engines wait without an
    /// account change.
    public func suspend() {
        core.revokeCredential(state.withLock { $0.credential })
    }

    /// The credential is valid again. Devices with it connect at once, and their engines continue with the pending
    /// changes.
    public func resume() {
        let credential = core.issueCredential(token, of: name)
        state.withLock { $0.credential = credential }
        core.retryNow()
    }

    /// Deletes a zone, like a user who deletes the app's data in the settings. Devices get it as a deletion with the
    /// reason `purged`, and their saves fail with `userDeletedZone`.
    ///
    /// - Throws: ``TestCloudError`` with `zoneUnknown`.
    public func purge(_ zoneID: CKRecordZone.ID) throws(TestCloudError) {
        try end(zoneID, .purged)
    }

    /// Deletes a zone whose encrypted values can no longer be read. Devices get it as a deletion with the reason
    /// `encryptedDataReset`, and should upload their records again.
    ///
    /// - Throws: ``TestCloudError`` with `zoneUnknown`.
    public func resetEncryptedData(in zoneID: CKRecordZone.ID) throws(TestCloudError) {
        try end(zoneID, .encryptedDataReset)
    }

    /// From now on the account is end-to-end encrypted: no server has its key, and its devices keep it.
    ///
    /// A device without the key cannot read or save encrypted values before it imports the recovery key
    /// (`CKContainer.importRecoveryKey(_:)`). In a zone that is shared with or by this account, each record with encrypted values fails for
    /// participants. The other records do not.
    ///
    /// Call this before the account has encrypted values. Later it is a mistake in the test, and stops it.
    public func encryptEndToEnd() {
        precondition(
            core.keepNoKeys(ofAccount: name),
            "\(name) has encrypted values already. Call encryptEndToEnd() before its devices save some.")
    }

    private func end(_ zoneID: CKRecordZone.ID, _ reason: ZoneRemovalReason) throws(TestCloudError) {
        guard core.endZone(zoneID.zoneName, ofAccount: name, reason) else {
            throw TestCloudError(
                .zoneUnknown,
                "\(name) has no zone \(zoneID.zoneName) that could be deleted. Was it saved, and by \(name)?")
        }
    }
}
