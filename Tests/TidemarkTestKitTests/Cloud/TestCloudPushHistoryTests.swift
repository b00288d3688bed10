// SPDX-License-Identifier: Apache-2.0

import CloudKit
import Foundation
import Synchronization
import Testing
import TidemarkTestKit
import TidemarkTestSupport

/// Random histories in which pushes get lost, come twice and overtake each other, on a line that lives.
///
/// A seed that fails is printed. `TIDEMARK_TEST_SEED` makes it the first one.
@Suite(.timeLimit(.minutes(10))) struct TestCloudPushHistoryTests {
    /// How often an app without an engine was told of each of its subscriptions.
    private final class Heard: Sendable {
        private let counts = Mutex<[String: Int]>([:])

        func add(_ userInfo: [AnyHashable: Any]) {
            let id = CKNotification(fromRemoteNotificationDictionary: userInfo)?.subscriptionID ?? "-"
            counts.withLock { $0[id, default: 0] += 1 }
        }

        func count(of id: String) -> Int { counts.withLock { $0[id] ?? 0 } }
    }

    /// What becomes of pushes.
    private final class Fates: Sendable {
        private struct State {
            var dice: SeededRandom
            var isOver = false
            var counts = [0, 0, 0]
        }

        private let state: Mutex<State>

        init(seed: UInt64) {
            state = Mutex(State(dice: SeededRandom(seed: seed)))
        }

        func attach(to device: TestDevice) { device.line.disturbPushes { self.next() } }

        /// From now on all arrive.
        func end() { state.withLock { $0.isOver = true } }

        /// How many were lost, came twice and came late.
        var counts: [Int] { state.withLock { $0.counts } }

        private func next() -> DeviceLine.PushFate {
            state.withLock { state in
                guard !state.isOver else { return .arrives }
                switch Int.random(in: 0..<10, using: &state.dice) {
                case 0...2:
                    state.counts[0] += 1
                    return .isLost
                case 3:
                    state.counts[1] += 1
                    return .comesTwice
                case 4, 5:
                    state.counts[2] += 1
                    return .comesLate(by: .milliseconds(Int.random(in: 1..<4_000, using: &state.dice)))
                default: return .arrives
                }
            }
        }
    }

    /// One history: a laptop that writes, a phone that is told by subscriptions, and a tablet whose engine follows.
    private struct History {
        private static let other = CKRecordZone.ID(zoneName: "Other")

        let seed: UInt64
        let cloud = TestCloud()
        let fates: Fates
        private var dice: SeededRandom
        private let heard = Heard()
        private let laptop: CKDatabase
        private let news: CKDatabase
        private let tablet: NotesDevice
        /// Who holds no container of a device is told of nothing.
        private let phone: CKContainer
        /// What the engine must have in the end.
        private var texts: [String: String] = [:]
        /// Subscriptions that are still to be told of a change, and how often they had been told before it.
        private var owed: [String: Int] = [:]

        init(seed: UInt64) async throws {
            self.seed = seed
            dice = SeededRandom(seed: seed)
            fates = Fates(seed: seed &+ 1)
            let alice = cloud.account("alice")
            let (phone, tabletDevice) = (alice.device("phone"), alice.device("tablet"))
            self.phone = phone.container
            laptop = alice.device("laptop").container.privateCloudDatabase
            news = cloud.account("bob").device("writer").container.publicCloudDatabase
            for zone in [NotesDevice.zone.zoneID, Self.other] { try await laptop.save(CKRecordZone(zoneID: zone)) }
            tablet = await NotesDevice(on: tabletDevice)
            try await Self.subscribe(phone)
            phone.container.handleRemoteNotifications { [heard] in heard.add($0) }
            try await cloud.run { [tablet] in await !tablet.events.isEmpty }
            try await cloud.clock.advance(by: .seconds(60))
            for device in [phone, tabletDevice] { fates.attach(to: device) }
        }

        private static func subscribe(_ phone: TestDevice) async throws {
            let typed = CKDatabaseSubscription(subscriptionID: "typed")
            typed.recordType = "Task"
            let hits = CKQuerySubscription(
                recordType: "Note", predicate: NSPredicate(format: "text == 'hit'"), subscriptionID: "hits")
            let zone = CKRecordZoneSubscription(zoneID: NotesDevice.zone.zoneID, subscriptionID: "zone")
            let all = CKDatabaseSubscription(subscriptionID: "all")
            let news = CKQuerySubscription(
                recordType: "News", predicate: NSPredicate(value: true), subscriptionID: "news")
            let (own, others) = (phone.container.privateCloudDatabase, phone.container.publicCloudDatabase)
            var saved = try await own.modifySubscriptions(saving: [typed, hits, zone, all], deleting: []).saveResults
            saved.merge(try await others.modifySubscriptions(saving: [news], deleting: []).saveResults) { $1 }
            for result in saved.values { _ = try result.get() }
        }

        private mutating func any(_ count: Int) -> Int { Int.random(in: 0..<count, using: &dice) }

        private mutating func expect(_ ids: [String]) {
            for id in ids { owed[id] = heard.count(of: id) }
        }

        private func save(
            _ name: String, _ type: String, _ text: String, number: Int, in zoneID: CKRecordZone.ID,
            of database: CKDatabase
        ) async throws {
            let record = CKRecord(recordType: type, recordID: CKRecord.ID(recordName: name, zoneID: zoneID))
            record["text"] = text
            // So that each save is a change.
            record["number"] = number
            let results = try await database.modifyRecords(saving: [record], deleting: [], savePolicy: .allKeys)
            _ = try results.saveResults[record.recordID]?.get()
        }

        mutating func step(_ number: Int) async throws {
            let text = ["hit", "miss", "other"][any(3)]
            switch any(6) {
            case 0, 1:
                let name = "n\(any(4))"
                expect(["all", "zone"] + (text == "hit" || texts[name] == "hit" ? ["hits"] : []))
                texts[name] = text
                try await save(name, "Note", text, number: number, in: NotesDevice.zone.zoneID, of: laptop)
            case 2:
                let name = "t\(any(4))"
                expect(["all", "zone", "typed"])
                texts[name] = text
                try await save(name, "Task", text, number: number, in: NotesDevice.zone.zoneID, of: laptop)
            case 3:
                let name = "o\(any(4))"
                expect(["all"] + (text == "hit" || texts[name] == "hit" ? ["hits"] : []))
                texts[name] = text
                try await save(name, "Note", text, number: number, in: Self.other, of: laptop)
            case 4:
                let name = "n\(any(4))"
                guard let old = texts.removeValue(forKey: name) else { return }
                expect(["all", "zone"] + (old == "hit" ? ["hits"] : []))
                try await laptop.deleteRecord(withID: NotesDevice.id(name))
            default:
                let name = "p\(any(4))"
                expect(["news"])
                try await save(name, "News", text, number: number, in: .default, of: news)
            }
            try await cloud.settle()
            try await cloud.clock.advance(by: .milliseconds([0, 0, 100, 1_500, 12_000][any(5)]))
            // Now and then all is to be well, although nothing more happens on the line.
            if any(6) == 0 { try await settle() }
        }

        /// What is lost is found within the time of a reminder, and a few seconds more.
        mutating func settle() async throws {
            let (owed, texts) = (owed, texts)
            do {
                try await cloud.run(within: .seconds(60)) { [heard, tablet] in
                    guard owed.allSatisfy({ heard.count(of: $0.key) > $0.value }) else { return false }
                    return await tablet.texts == texts
                }
            } catch is TestCloudError {
                let untold = owed.filter { heard.count(of: $0.key) <= $0.value }.keys.sorted()
                let (found, wanted) = (await tablet.texts, texts)
                Issue.record("seed \(seed): untold \(untold), engine has \(found) of \(wanted)")
            }
            self.owed = [:]
        }
    }

    @Test func `I-4, R-253, R-261: whatever becomes of pushes, an engine has all, and each subscription is told`()
        async throws
    {
        let first = SeededRandom().seed
        print("push histories: TIDEMARK_TEST_SEED=\(first)")
        var counts = [0, 0, 0]
        for offset in 0..<25 as Range<UInt64> {
            var history = try await History(seed: first &+ offset)
            for number in 0..<30 { try await history.step(number) }
            history.fates.end()
            try await history.settle()
            counts = zip(counts, history.fates.counts).map(+)
        }
        #expect(counts.allSatisfy { $0 > 50 }, "lost, twice and late: \(counts)")
    }
}
