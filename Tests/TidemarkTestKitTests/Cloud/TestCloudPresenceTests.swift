// SPDX-License-Identifier: Apache-2.0

import CloudKit
import Foundation
import Synchronization
import Testing

@testable import TidemarkTestKit

/// Presence of devices of a ``TestCloud``.
@Suite struct TestCloudPresenceTests {
    /// What a device sees of a zone.
    private final class Watcher: Sendable {
        private struct State {
            var members: [TidemarkPresenceMember] = []
            var messages: [String] = []
            var failure: CKError?
            /// How often it saw nobody.
            var emptyCount = 0
        }

        let presence: TidemarkPresence
        private let state = Mutex(State())
        private let tasks = Mutex<[Task<Void, any Error>]>([])

        init(_ presence: TidemarkPresence, _ cloud: TestCloud) {
            self.presence = presence
            let members = cloud.start { [self, members = presence.members] in
                do {
                    for try await members in members {
                        state.withLock { state in
                            state.members = members
                            if members.isEmpty { state.emptyCount += 1 }
                        }
                    }
                } catch let error as CKError {
                    state.withLock { $0.failure = error }
                }
            }
            let messages = cloud.start { [self, messages = presence.messages] in
                for try await message in messages {
                    state.withLock { $0.messages.append(String(decoding: message.content, as: UTF8.self)) }
                }
            }
            tasks.withLock { $0 = [members, messages] }
        }

        var states: Set<String> {
            state.withLock { Set($0.members.map { String(decoding: $0.state, as: UTF8.self) }) }
        }
        var members: [TidemarkPresenceMember] { state.withLock { $0.members } }
        var messages: [String] { state.withLock { $0.messages } }
        var failure: CKError.Code? { state.withLock { $0.failure?.code } }
        var emptyCount: Int { state.withLock { $0.emptyCount } }

        func stop() { for task in tasks.withLock({ $0 }) { task.cancel() } }
    }

    private let cloud = TestCloud()
    private let zoneID = CKRecordZone.ID(zoneName: "Board")

    private func watch(_ device: TestDevice) -> Watcher {
        Watcher(device.container.privateCloudDatabase.presence(in: zoneID), cloud)
    }

    private func makeZone() async throws -> (TestDevice, TestDevice) {
        let account = cloud.account("alice")
        let (phone, laptop) = (account.device("phone"), account.device("laptop"))
        try await phone.container.privateCloudDatabase.save(CKRecordZone(zoneID: zoneID))
        return (phone, laptop)
    }

    @Test func `R-879: two devices see each other's newest states, and messages`() async throws {
        let (phone, laptop) = try await makeZone()
        let (one, two) = (watch(phone), watch(laptop))
        try one.presence.update(Data("one".utf8))
        try two.presence.update(Data("two".utf8))
        try await cloud.settle()
        #expect(one.states == ["one", "two"] && two.states == ["one", "two"])
        #expect(one.members.filter(\.isThisDevice).map { $0.state } == [Data("one".utf8)])
        #expect(Set(one.members.map(\.userRecordName)).count == 1)
        for value in 0..<100 { try two.presence.update(Data("at \(value)".utf8)) }
        try await two.presence.send(Data("hello".utf8))
        try await cloud.settle()
        #expect(one.states == ["one", "at 99"] && one.messages == ["hello"] && two.messages == [])
        // One object for a zone.
        #expect(phone.container.privateCloudDatabase.presence(in: zoneID) === one.presence)
        two.stop()
        one.stop()
    }

    @Test func `R-879: presence survives a lost connection and a restart of the server`() async throws {
        let (phone, laptop) = try await makeZone()
        let (one, two) = (watch(phone), watch(laptop))
        try one.presence.update(Data("one".utf8))
        try two.presence.update(Data("two".utf8))
        try await cloud.settle()
        laptop.cutConnections()
        try two.presence.update(Data("again".utf8))
        try await cloud.run(within: .seconds(30)) { one.states == ["one", "again"] && two.states == one.states }
        cloud.restartServer()
        try await cloud.run(within: .seconds(30)) { one.states == ["one", "again"] && two.states == one.states }
        try two.presence.update(Data("after".utf8))
        try await cloud.run(within: .seconds(30)) { one.states == ["one", "after"] }
        // Offline for longer than a state lives.
        laptop.goOffline()
        try await cloud.run(within: .seconds(60)) { one.states == ["one"] && two.states == [] }
        laptop.goOnline()
        try await cloud.run(within: .seconds(60)) { one.states == ["one", "after"] && two.states == one.states }
        two.stop()
        one.stop()
    }

    @Test func `R-291: presence goes on with a fresh credential of the same account, and ends with another account`()
        async throws
    {
        let (phone, laptop) = try await makeZone()
        let (one, two) = (watch(phone), watch(laptop))
        try one.presence.update(Data("one".utf8))
        try two.presence.update(Data("two".utf8))
        try await cloud.settle()
        let token = cloud.account("alice").token
        for _ in 0..<3 {
            laptop.container.signIn { token }
            try await cloud.run(within: .seconds(30)) { one.states == ["one", "two"] && two.states == one.states }
        }
        laptop.container.signIn { token }
        try two.presence.update(Data("fresh".utf8))
        try await cloud.run(within: .seconds(30)) { one.states == ["one", "fresh"] && two.states == one.states }
        try await two.presence.send(Data("hello".utf8))
        try await cloud.settle()
        #expect(one.messages == ["hello"] && two.emptyCount == 0 && two.failure == nil)
        // nobody is present for somebody else.
        laptop.signIn(cloud.account("bob"))
        try await cloud.run(within: .seconds(30)) { two.failure == .notAuthenticated && one.states == ["one"] }
        phone.signOut()
        try await cloud.settle()
        #expect(one.failure == .notAuthenticated)
        two.stop()
        one.stop()
    }

    @Test func `R-879: whoever stops reading and lets go is gone`() async throws {
        let (phone, laptop) = try await makeZone()
        let one = watch(phone)
        try one.presence.update(Data("one".utf8))
        do {
            let two = watch(laptop)
            try two.presence.update(Data("two".utf8))
            try await cloud.settle()
            #expect(one.states == ["one", "two"])
            two.stop()
        }
        try await cloud.run(within: .seconds(30)) { one.states == ["one"] }
        one.stop()
    }

    @Test func `R-879: whoever lets go before they have joined is gone as well`() async throws {
        let (phone, laptop) = try await makeZone()
        let one = watch(phone)
        try one.presence.update(Data("one".utf8))
        try await cloud.settle()
        let database = laptop.container.privateCloudDatabase
        do {
            let presence = database.presence(in: zoneID)
            try presence.update(Data("two".utf8))
        }
        // No time passes: it does not wait until a silent member is gone.
        try await cloud.settle()
        #expect(one.states == ["one"])
        // Whoever begins again at once is there.
        do {
            let presence = database.presence(in: zoneID)
            try presence.update(Data("two".utf8))
        }
        let two = watch(laptop)
        try two.presence.update(Data("three".utf8))
        try await cloud.run(within: .seconds(30)) { one.states == ["one", "three"] }
        try await cloud.settle()
        #expect(one.states == ["one", "three"] && two.states == one.states)
        two.stop()
        one.stop()
    }

    @Test func `R-865, R-877, R-879: what cannot be is told as an error`() async throws {
        let (phone, _) = try await makeZone()
        let database = phone.container.privateCloudDatabase
        let none = Watcher(database.presence(in: CKRecordZone.ID(zoneName: "None")), cloud)
        try await cloud.settle()
        #expect(none.failure == .zoneNotFound)
        #expect(throws: CKError.self) { try none.presence.update(Data()) }
        let one = watch(phone)
        let error = #expect(throws: CKError.self) { try one.presence.update(Data(count: 1_025)) }
        #expect(error?.code == .limitExceeded)
        try await cloud.settle()
        let refused = try await cloud.start { [presence = one.presence] in
            await withTaskGroup(of: CKError?.self) { group in
                for _ in 0..<60 {
                    group.addTask {
                        do {
                            try await presence.send(Data("hello".utf8))
                            return nil
                        } catch {
                            return error as? CKError
                        }
                    }
                }
                return await group.reduce(into: [CKError]()) { errors, error in
                    if let error { errors.append(error) }
                }
            }
        }.value
        #expect(refused.count >= 30)
        #expect(refused.allSatisfy { $0.code == .zoneBusy && $0.retryAfterSeconds != nil })
        // The connection is the same, and the device is still there.
        _ = try await database.allRecordZones()
        #expect(one.members.count == 1 && one.failure == nil)
        try await database.deleteRecordZone(withID: zoneID)
        try await cloud.settle()
        #expect(one.failure == .zoneNotFound)
    }
}
