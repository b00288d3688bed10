// SPDX-License-Identifier: Apache-2.0

import TidemarkKit

/// A cloud as the scenarios of ``ConformanceTests`` use it: TestKit's, or a real server. What apps see of both is the same.
protocol ConformingCloud: Sendable {
    /// A new device with the account of that name.
    func device(of account: String) async throws -> any ConformingDevice

    /// Lets happen what is to happen, and time pass if that is what it takes, until `condition` holds.
    ///
    /// - Parameter what: for whoever reads that it never did.
    func run(until what: String, _ condition: () async throws -> Bool) async throws

    /// On the clock of server and devices.
    var elapsed: Duration { get }

    func purge(_ zoneID: CKRecordZone.ID, of account: String) async throws
    func resetEncryptedData(in zoneID: CKRecordZone.ID, of account: String) async throws
    /// No server has the account's key from now on. It has no encrypted values yet.
    func encryptEndToEnd(_ account: String) async throws
    /// The server refuses the account's credential.
    func suspend(_ account: String) async throws
    /// It is good again, and devices with it connect at once.
    func resume(_ account: String) async throws
    func expireTokens() async throws
    func forgetDeletions() async throws
}

protocol ConformingDevice: Sendable {
    var container: CKContainer { get }
    func goOffline()
    func goOnline()
    func cutConnections()
    func loseNextAnswer()
    var lostAnswerCount: Int { get }
    func throttle(for duration: Duration)
    func signIn(as account: String) async throws
    func signOut()
}

extension ConformingDevice {
    var database: CKDatabase { container.privateCloudDatabase }
}
