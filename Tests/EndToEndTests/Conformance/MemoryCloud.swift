// SPDX-License-Identifier: Apache-2.0

import Synchronization
import TidemarkKit
import TidemarkTestKit

/// What apps' tests use, by its public face alone.
final class MemoryCloud: ConformingCloud {
    private let cloud = TestCloud()
    private let deviceCount = Mutex(0)

    func device(of account: String) -> any ConformingDevice {
        let number = deviceCount.withLock { count in
            count += 1
            return count
        }
        return MemoryDevice(cloud: cloud, device: cloud.account(account).device("device \(number)"))
    }

    func run(until what: String, _ condition: () async throws -> Bool) async throws {
        do {
            try await cloud.run(until: condition)
        } catch is TestCloudError {
            throw NeverHappened(description: "\(what): not in memory")
        }
    }

    var elapsed: Duration { cloud.clock.elapsed }

    func purge(_ zoneID: CKRecordZone.ID, of account: String) throws {
        try cloud.account(account).purge(zoneID)
    }

    func resetEncryptedData(in zoneID: CKRecordZone.ID, of account: String) throws {
        try cloud.account(account).resetEncryptedData(in: zoneID)
    }

    func encryptEndToEnd(_ account: String) { cloud.account(account).encryptEndToEnd() }
    func suspend(_ account: String) { cloud.account(account).suspend() }
    func resume(_ account: String) { cloud.account(account).resume() }
    func expireTokens() { cloud.expireTokens() }
    func forgetDeletions() { cloud.forgetDeletions() }
}

private struct MemoryDevice: ConformingDevice {
    let cloud: TestCloud
    let device: TestDevice

    var container: CKContainer { device.container }
    func goOffline() { device.goOffline() }
    func goOnline() { device.goOnline() }
    func cutConnections() { device.cutConnections() }
    func loseNextAnswer() { device.loseNextAnswer() }
    var lostAnswerCount: Int { device.lostAnswerCount }
    func throttle(for duration: Duration) { device.throttle(for: duration) }
    func signIn(as account: String) { device.signIn(cloud.account(account)) }
    func signOut() { device.signOut() }
}
