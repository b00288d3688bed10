// SPDX-License-Identifier: Apache-2.0

import CloudKit
import Synchronization
import Testing
import TidemarkTestKit
import TidemarkTestSupport

/// Pushes that get lost on an open connection, in the cloud's own time.
@Suite(.timeLimit(.minutes(10))) struct DeviceLineTests {
    /// What got lost on the way to a device, and when it next heard anything at all.
    private final class Losses: Sendable {
        struct Entry {
            let lostAt: Duration
            var nextSign: Duration?
        }

        private struct State {
            var dice: SeededRandom
            var entries: [Entry] = []
            var chance = 0.0
        }

        private let clock: TestClock
        private let state: Mutex<State>

        init(_ clock: TestClock, seed: UInt64) {
            self.clock = clock
            state = Mutex(State(dice: SeededRandom(seed: seed)))
        }

        func attach(to device: TestDevice, chance: Double) {
            state.withLock { $0.chance = chance }
            device.line.losePushes(loses) { self.heard() }
        }

        var count: Int { state.withLock { $0.entries.count } }

        /// The next sign of life after the first loss since then.
        func nextSign(after time: Duration) -> Duration? {
            state.withLock { $0.entries.first { $0.lostAt >= time } }?.nextSign
        }

        private func loses() -> Bool {
            let now = clock.elapsed
            return state.withLock { state in
                guard Double.random(in: 0..<1, using: &state.dice) < state.chance else { return false }
                state.entries.append(Entry(lostAt: now))
                return true
            }
        }

        private func heard() {
            let now = clock.elapsed
            state.withLock { state in
                for index in state.entries.indices.reversed() {
                    guard state.entries[index].nextSign == nil else { return }
                    state.entries[index].nextSign = now
                }
            }
        }
    }

    @Test(arguments: [0.3, 1.0])
    func `R-261: an edit whose push was lost comes 2 s after the next sign of life, and within 30 s`(
        chance: Double
    ) async throws {
        let cloud = TestCloud()
        let alice = cloud.account("alice")
        let (phone, laptop) = (alice.device("phone"), alice.device("laptop"))
        let app = await NotesDevice(on: phone)
        try await cloud.run { await !app.events.isEmpty }
        try await cloud.clock.advance(by: .seconds(60))
        let database = laptop.container.privateCloudDatabase
        var note = try await database.save(CKRecord(recordType: "Note", recordID: NotesDevice.id("n")))
        try await cloud.settle()

        let losses = Losses(cloud.clock, seed: 1)
        losses.attach(to: phone, chance: chance)
        var dice = SeededRandom(seed: 2)
        var (delays, afterSign): ([Duration], [Duration]) = ([], [])
        for number in 0..<200 {
            let before = cloud.clock.elapsed
            note["text"] = "\(number)"
            note = try await database.save(note)
            try await cloud.run(within: .seconds(120)) { await app.texts["n"] == "\(number)" }
            let now = cloud.clock.elapsed
            delays.append(now - before)
            if let sign = losses.nextSign(after: before), sign <= now { afterSign.append(now - sign) }
            // Sometimes edits follow each other, sometimes nothing happens for a while.
            try await cloud.clock.advance(by: .milliseconds(Int.random(in: 0...20_000, using: &dice)))
        }
        #expect(losses.count >= 40, "\(losses.count)")
        #expect(delays.max() ?? .zero <= .seconds(30), "\(delays.max() ?? .zero)")
        let late = afterSign.filter { $0 > .seconds(2) }
        #expect(late.count * 100 <= afterSign.count, "\(late)")
        #expect(delays.contains { $0 > .seconds(5) }, "some were found by a reminder alone")
    }

    @Test func `R-261, R-257: an app without an engine is told again of what it may have missed`() async throws {
        let cloud = TestCloud()
        let alice = cloud.account("alice")
        let (phone, laptop) = (alice.device("phone"), alice.device("laptop"))
        let database = laptop.container.privateCloudDatabase
        try await database.save(NotesDevice.zone)
        try await database.save(CKDatabaseSubscription(subscriptionID: "all"))
        let heard = Mutex<[String]>([])
        phone.container.handleRemoteNotifications { userInfo in
            let id = CKNotification(fromRemoteNotificationDictionary: userInfo)?.subscriptionID
            heard.withLock { $0.append(id ?? "none") }
        }
        try await cloud.settle()
        try await cloud.clock.advance(by: .seconds(60))
        let before = heard.withLock { $0.count }
        #expect(before > 0)
        let losses = Losses(cloud.clock, seed: 1)
        losses.attach(to: phone, chance: 1)
        try await database.save(CKRecord(recordType: "Note", recordID: NotesDevice.id("n")))
        try await cloud.run(within: .seconds(30)) { heard.withLock { $0.count } > before }
        #expect(losses.count > 0 && heard.withLock { $0.allSatisfy { $0 == "all" } })
    }
}
