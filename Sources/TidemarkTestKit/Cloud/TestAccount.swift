// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkDomain
public import TidemarkKit

/// An account of a ``TestCloud``: its devices, its data as another device sees it, and what an operator may do with it.
public final class TestAccount: Sendable {
    /// As it was given to ``TestCloud/account(_:)``.
    public let name: String
    /// The credential, for apps that sign in themselves (`CKContainer.signIn(token:)`).
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

    /// A new device, on which the account is signed in.
    ///
    /// - Parameter name: another one for each device of the account: two devices of one name are a mistake in the test, and
    ///   stop it.
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

    /// The private database as a further device of the account reaches it, which is always online and has no engine: to
    /// prepare what is there, and to look at what has arrived.
    public var database: CKDatabase {
        let device = state.withLock { state in
            let device = state.other ?? TestDevice("another device of \(name)", token: token, in: core)
            state.other = device
            return device
        }
        return device.container.privateCloudDatabase
    }

    /// Changes a record as a further device of the account would, so that a device that has it as it was meets a conflict.
    ///
    /// - Returns: the record as it is on the server then.
    /// - Throws: `CKError`: that of fetching or of saving it.
    @discardableResult
    public func edit(_ recordID: CKRecord.ID, _ change: (CKRecord) -> Void) async throws -> CKRecord {
        let record = try await database.record(for: recordID)
        change(record)
        return try await database.save(record)
    }

    // MARK: What an operator does

    /// The server refuses the account's credential from now on, as one that has expired: connections end, the account's
    /// status is `temporarilyUnavailable`, calls fail with `accountTemporarilyUnavailable`, and engines wait without
    /// an account change.
    public func suspend() {
        core.revokeCredential(state.withLock { $0.credential })
    }

    /// The credential is good again, and devices with it connect at once.
    public func resume() {
        let credential = core.issueCredential(token, of: name)
        state.withLock { $0.credential = credential }
        core.retryNow()
    }

    /// Deletes a zone as its user does who erases the app's data in the settings: devices hear of it with the reason
    /// `purged`, and their saves fail with `userDeletedZone`.
    ///
    /// - Throws: ``TestCloudError`` with `zoneUnknown`.
    public func purge(_ zoneID: CKRecordZone.ID) throws(TestCloudError) {
        try end(zoneID, .purged)
    }

    /// Deletes a zone whose encrypted values nobody can read any more: devices hear of it with the reason
    /// `encryptedDataReset`, and are to upload what they have.
    ///
    /// - Throws: ``TestCloudError`` with `zoneUnknown`.
    public func resetEncryptedData(in zoneID: CKRecordZone.ID) throws(TestCloudError) {
        try end(zoneID, .encryptedDataReset)
    }

    private func end(_ zoneID: CKRecordZone.ID, _ reason: ZoneRemovalReason) throws(TestCloudError) {
        guard core.endZone(zoneID.zoneName, ofAccount: name, reason) else {
            throw TestCloudError(
                .zoneUnknown,
                "\(name) has no zone \(zoneID.zoneName) that could be deleted. Was it saved, and by \(name)?")
        }
    }
}
