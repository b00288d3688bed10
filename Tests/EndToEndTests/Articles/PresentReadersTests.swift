// SPDX-License-Identifier: Apache-2.0

import CloudKit
import Synchronization
import Testing

@testable import TidemarkTestKit

/// What the article *Presence* promises.
@Suite struct PresentReadersTests {
    private let cloud = TestCloud()
    private let zoneID = CKRecordZone.ID(zoneName: "Book")

    @Test func `R-879: readers of one book see on which page the others are`() async throws {
        let account = cloud.account("alice")
        let (phone, laptop) = (account.device("phone"), account.device("laptop"))
        try await phone.container.privateCloudDatabase.save(CKRecordZone(zoneID: zoneID))
        let seen = Mutex<[BookReader]>([])
        let knocks = Mutex(0)
        let database = phone.container.privateCloudDatabase
        let showing = cloud.start { [zoneID] in
            try await showReaders(of: zoneID, in: database) { readers in seen.withLock { $0 = readers } }
        }
        let hearing = cloud.start { [messages = database.presence(in: zoneID).messages] in
            for try await _ in messages { knocks.withLock { $0 += 1 } }
        }
        let other = laptop.container.privateCloudDatabase.presence(in: zoneID)
        try turn(to: 3, as: "Ann", other)
        try await cloud.settle()
        #expect(seen.withLock { $0 } == [BookReader(name: "Ann", page: 3)])
        try turn(to: 4, as: "Ann", other)
        try await knock(other)
        try await cloud.settle()
        #expect(seen.withLock { $0 } == [BookReader(name: "Ann", page: 4)])
        #expect(knocks.withLock { $0 } == 1)
        laptop.goOffline()
        try await knock(other)
        showing.cancel()
        hearing.cancel()
    }
}
