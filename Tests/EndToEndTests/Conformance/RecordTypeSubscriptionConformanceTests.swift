// SPDX-License-Identifier: Apache-2.0

import CloudKit
import Foundation
import Synchronization
import Testing

/// Zone and database subscriptions that an app has narrowed to a record type: on TestKit and on a real server.
@Suite(.timeLimit(.minutes(10))) struct RecordTypeSubscriptionConformanceTests {
    /// How often an app was told of each of its subscriptions.
    private final class Heard: Sendable {
        private let counts = Mutex<[String: Int]>([:])

        init(_ container: CKContainer) {
            container.handleRemoteNotifications { userInfo in
                let id = CKNotification(fromRemoteNotificationDictionary: userInfo)?.subscriptionID ?? "-"
                self.counts.withLock { $0[id, default: 0] += 1 }
            }
        }

        func count(of id: String) -> Int { counts.withLock { $0[id] ?? 0 } }
    }

    /// Pushes of one change come in the order of the IDs. So after the one of `zz-any`, which every change fires, the others
    /// have come.
    private static let narrowed = ["database", "zone"]
    private static let last = "zz-any"

    private struct Story {
        let cloud: any ConformingCloud
        let heard: Heard
        let laptop: CKDatabase
        /// Who holds no container of a device is told of nothing.
        private let phone: CKContainer

        init(_ cloud: any ConformingCloud) async throws {
            self.cloud = cloud
            phone = try await cloud.device(of: "alice").container
            laptop = try await cloud.device(of: "alice").database
            try await laptop.save(CKRecordZone(zoneID: Both.notes))
            heard = Heard(phone)
            let ofDatabase = CKDatabaseSubscription(subscriptionID: "database")
            ofDatabase.recordType = "Note"
            let ofZone = CKRecordZoneSubscription(zoneID: Both.notes, subscriptionID: "zone")
            ofZone.recordType = "Note"
            let results = try await phone.privateCloudDatabase.modifySubscriptions(
                saving: [
                    ofDatabase, ofZone,
                    CKDatabaseSubscription(subscriptionID: RecordTypeSubscriptionConformanceTests.last),
                ], deleting: [])
            for result in results.saveResults.values { _ = try result.get() }
        }

        private func counts() -> [Int] {
            RecordTypeSubscriptionConformanceTests.narrowed.map { heard.count(of: $0) }
        }

        /// The narrowed subscriptions of which the phone hears with a change by the laptop.
        private func told(_ what: String, _ change: () async throws -> Void) async throws -> [String] {
            let (before, lastBefore) = (counts(), heard.count(of: RecordTypeSubscriptionConformanceTests.last))
            try await change()
            try await cloud.run(until: what) {
                heard.count(of: RecordTypeSubscriptionConformanceTests.last) > lastBefore
            }
            let after = counts()
            return RecordTypeSubscriptionConformanceTests.narrowed.indices.filter { after[$0] > before[$0] }
                .map { RecordTypeSubscriptionConformanceTests.narrowed[$0] }
        }

        /// A connection that begins anew, and a sweep, tell of each subscription. So a change of which nothing is to be heard
        /// is made again until nothing else was heard with it.
        func isSilent(_ what: String, _ change: (Int) async throws -> Void) async throws -> String {
            for number in 0..<10 {
                if try await told(what, { try await change(number) }).isEmpty { return "\(what): silent" }
            }
            return "\(what): told"
        }

        func isTold(_ what: String, _ change: () async throws -> Void) async throws -> String {
            let before = counts()
            try await change()
            try await cloud.run(until: what) { zip(counts(), before).allSatisfy { $0 > $1 } }
            return "\(what): told"
        }

        func save(_ name: String, _ type: String, _ text: String = "") async throws {
            let record = CKRecord(recordType: type, recordID: Both.id(name))
            record["text"] = text
            let results = try await laptop.modifyRecords(saving: [record], deleting: [], savePolicy: .allKeys)
            _ = try results.saveResults[record.recordID]?.get()
        }
    }

    @Test func `R-247, R-262: a subscription that is narrowed to a record type tells of no other`() async throws {
        let seen = try await Both.clouds { cloud in
            let story = try await Story(cloud)
            var seen: [String] = []
            seen.append(try await story.isSilent("a task") { try await story.save("t\($0)", "Task") })
            seen.append(try await story.isTold("a note") { try await story.save("n", "Note") })
            seen.append(try await story.isSilent("a task changed") { try await story.save("t0", "Task", "new \($0)") })
            seen.append(try await story.isTold("a note changed") { try await story.save("n", "Note", "new") })
            seen.append(
                try await story.isSilent("a zone") { number in
                    try await story.laptop.save(CKRecordZone(zoneName: "New\(number)"))
                })
            seen.append(
                try await story.isTold("a note deleted") { try await story.laptop.deleteRecord(withID: Both.id("n")) })
            return seen
        }
        #expect(
            seen == [
                "a task: silent", "a note: told", "a task changed: silent", "a note changed: told", "a zone: silent",
                "a note deleted: told",
            ])
    }
}
