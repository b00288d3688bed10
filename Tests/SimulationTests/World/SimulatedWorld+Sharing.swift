// SPDX-License-Identifier: Apache-2.0

import TidemarkDomain
import TidemarkScheduling
import TidemarkService
import TidemarkTestKit
import TidemarkTestSupport

/// Accounts with which the owner shares zones.
extension SimulatedWorld {
    /// Makes their accounts. From now on the judge knows who has access to what.
    func admit(_ names: [String]) async throws {
        let store = MemoryStore(database)
        isAdmitting = true
        for (index, name) in names.enumerated() {
            let hash = [UInt8(2 + index)]
            database.issueCredential(hash: hash, account: name)
            let found = try await store.identity(
                credentialHash: hash, container: "iCloud.test", environment: .development, containersMax: .max,
                now: Timestamp(milliseconds: scheduler.wallClockMilliseconds))
            if let found { guests.append(found) }
        }
        sharing = SharingJudge(guests: guests.map(\.user))
        isAdmitting = false
        backUp()
    }

    /// The newest incarnations of a zone may have answered.
    func incarnations(of name: String) -> [ZoneID] {
        history.zones.values.filter { $0.name == name }.map(\.id).sorted()
    }
}
