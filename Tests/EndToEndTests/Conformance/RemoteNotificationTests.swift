// SPDX-License-Identifier: Apache-2.0

import CloudKit
import Foundation
import Synchronization
import Testing

/// Apps without an engine, which are called when something has changed (R-257): on TestKit and on a real server.
@Suite struct RemoteNotificationTests {
    /// What an app was called with, as it reads it.
    private final class Heard: Sendable {
        private let lines = Mutex<[String]>([])

        func add(_ userInfo: [AnyHashable: Any]) {
            guard let notification = CKNotification(fromRemoteNotificationDictionary: userInfo) else {
                return lines.withLock { $0.append("not ours") }
            }
            var line = "\(notification.subscriptionID ?? "-") in \(notification.containerIdentifier != nil)"
            switch notification {
            case let database as CKDatabaseNotification: line += " database \(database.databaseScope.rawValue)"
            case let zone as CKRecordZoneNotification: line += " zone \(zone.recordZoneID?.zoneName ?? "-")"
            default: line += " other"
            }
            let owner = notification.subscriptionOwnerUserRecordID?.recordName ?? ""
            if owner.isEmpty || notification.notificationID == nil { line += " anonymous" }
            lines.withLock { $0.append(line) }
        }

        var all: Set<String> { lines.withLock { Set($0) } }
        var count: Int { lines.withLock { $0.count } }
        func clear() { lines.withLock { $0 = [] } }
    }

    @Test func `R-247, R-254, R-257: an app hears of changes by its subscriptions, without an engine`() async throws {
        let seen = try await Both.clouds { cloud in
            let phone = try await cloud.device(of: "alice")
            let laptop = try await cloud.device(of: "alice")
            try await phone.database.save(CKRecordZone(zoneID: Both.notes))
            try await phone.database.save(CKRecordZone(zoneName: "Other"))
            try await phone.database.save(CKDatabaseSubscription(subscriptionID: "all"))
            try await phone.database.save(CKRecordZoneSubscription(zoneID: Both.notes, subscriptionID: "notes"))
            let heard = Heard()
            phone.container.handleRemoteNotifications { heard.add($0) }
            let both: Set = ["all in true database 2", "notes in true zone Notes"]
            // Another zone is of the database's subscription alone. A connection that begins anew tells of both.
            var ofOther = both
            for number in 0..<10 where ofOther == both {
                heard.clear()
                let other = CKRecordZone.ID(zoneName: "Other")
                let record = CKRecord(
                    recordType: "Note", recordID: CKRecord.ID(recordName: "o\(number)", zoneID: other))
                try await laptop.database.save(record)
                try await cloud.run(until: "the database's subscription told") { heard.count > 0 }
                ofOther = heard.all
            }
            heard.clear()
            try await laptop.database.save(Both.note("n", ["a": "1"]))
            try await cloud.run(until: "both subscriptions told of a record") { heard.all == both }
            // A cut takes nothing: after it the app is told that something may have changed.
            heard.clear()
            phone.cutConnections()
            try await cloud.run(until: "both told after a cut") { heard.all == both }
            // Who replaces the handler hears it alone.
            let replaced = Heard()
            phone.container.handleRemoteNotifications { replaced.add($0) }
            heard.clear()
            try await laptop.database.save(Both.note("later", ["a": "1"]))
            try await cloud.run(until: "the new handler told") { replaced.all == both }
            return ["\(heard.count)"] + ofOther.sorted()
        }
        #expect(seen == ["0", "all in true database 2"])
    }
}
