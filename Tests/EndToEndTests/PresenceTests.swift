// SPDX-License-Identifier: Apache-2.0

import Foundation
import SessionTestSupport
import Synchronization
import Testing
import TidemarkKit
import TidemarkWire

/// Presence with real servers.
@Suite(.timeLimit(.minutes(10))) struct PresenceTests {
    /// What a device sees of a zone.
    private final class Watcher: Sendable {
        private struct State {
            var states: Set<String> = []
            var messages: [String] = []
            var failure: CKError.Code?
        }

        let presence: TidemarkPresence
        private let state = Mutex(State())
        private let tasks = Mutex<[Task<Void, Never>]>([])

        init(_ presence: TidemarkPresence) {
            self.presence = presence
            let members = Task { [self, members = presence.members] in
                do {
                    for try await members in members {
                        let states = Set(members.map { String(decoding: $0.state, as: UTF8.self) })
                        state.withLock { $0.states = states }
                    }
                } catch {
                    state.withLock { $0.failure = (error as? CKError)?.code }
                }
            }
            let messages = Task { [self, messages = presence.messages] in
                do {
                    for try await message in messages {
                        state.withLock { $0.messages.append(String(decoding: message.content, as: UTF8.self)) }
                    }
                } catch {}
            }
            tasks.withLock { $0 = [members, messages] }
        }

        var states: Set<String> { state.withLock { $0.states } }
        var messages: [String] { state.withLock { $0.messages } }
        var failure: CKError.Code? { state.withLock { $0.failure } }

        func stop() { for task in tasks.withLock({ $0 }) { task.cancel() } }
    }

    private let zoneID = CKRecordZone.ID(zoneName: "Board")

    private func present(_ client: ShareClient, in zone: WireZoneID) async throws -> WireJoinPresenceAnswer {
        var request = WireJoinPresence()
        (request.database, request.zone) = (zone.owner.isEmpty ? .private : .shared, zone)
        request.state = Array(client.name.utf8)
        let answer = try await client.succeed(.joinPresence(request))
        guard case .joinPresence(let joined)? = answer.answer else { throw NeverHappened(description: "\(answer)") }
        return joined
    }

    private func publish(_ text: String, _ client: ShareClient, _ topic: UInt64) async throws -> [WireErrorCode] {
        var request = WirePublishPresence()
        (request.topic, request.setsState, request.state) = (topic, true, Array(text.utf8))
        return try await client.ask(.publishPresence(request)).failureCodes
    }

    /// What came of a topic.
    private func news(_ client: ShareClient, _ topic: UInt64) -> [WirePresencePush] {
        client.raw.answers.compactMap {
            if case .presence(let push)? = $0.answer, push.topic == topic { push } else { nil }
        }
    }

    private func text(_ pushes: [WirePresencePush]) -> Set<String> {
        Set(pushes.flatMap(\.members).map { String(decoding: $0.state, as: UTF8.self) })
    }

    @Test func `R-879: two devices of a user see each other's newest states, and messages`() async throws {
        let site = try await DevServer.shared()
        let database = try await site.makeContainer().privateDatabase(holding: zoneID)
        let (one, two) = (
            Watcher(database.presence(in: zoneID)),
            Watcher(site.makeContainer().privateCloudDatabase.presence(in: zoneID))
        )
        try one.presence.update(Data("one".utf8))
        try two.presence.update(Data("two".utf8))
        try await eventually("both see both") { one.states == ["one", "two"] && two.states == ["one", "two"] }
        for value in 0..<200 { try two.presence.update(Data("at \(value)".utf8)) }
        try await eventually("the newest state came") { one.states == ["one", "at 199"] }
        try await one.presence.send(Data("hello".utf8))
        try await eventually("the message came") { two.messages == ["hello"] }
        #expect(one.messages == [])
        two.stop()
        one.stop()
    }

    @Test func `R-865, R-878: owner and guest at two servers, and the guest's removal`() async throws {
        try await ServerPair.with { pair in
            let alice = try await ShareClient(pair.sites[0], "alice")
            let bob = try await ShareClient(pair.sites[1], "bob")
            try await alice.makeZone("Notes")
            let link = try await alice.share("Notes")
            try await bob.succeed(ShareRequests.accept(link))
            let (own, guests) = (ShareRequests.zone("Notes"), ShareRequests.zone("Notes", of: alice.name))
            let (hers, his) = (try await present(alice, in: own), try await present(bob, in: guests))
            try await eventually("they see each other") {
                text(news(alice, hers.topic)).contains(bob.name) && text(news(bob, his.topic)).contains(alice.name)
            }
            #expect(try await publish("here", bob, his.topic) == [])
            try await eventually("the state of the guest came") { text(news(alice, hers.topic)).contains("here") }

            let tag = try await alice.shareRecord(of: "Notes")?.tag ?? []
            try await alice.succeed(
                .modifyRecords(ShareRequests.share("Notes", .noAccess, tag: tag, alice.stamp())))
            try await eventually("the guest is told the end") {
                news(bob, his.topic).contains { $0.hasEnd && $0.end.code == .zoneNotFound }
            }
            #expect(try await publish("secret", alice, hers.topic) == [])
            #expect(try await publish("still here", bob, his.topic) == [.invalidArguments])
            #expect(!text(news(bob, his.topic)).contains("secret"))
        }
    }

    @Test func `R-877: a greedy device is told so, keeps its connection, and delays no save`() async throws {
        let site = try await DevServer.shared()
        let client = try await ShareClient(site, "alice", device: 77)
        let zone = "Greedy"
        try await client.makeZone(zone)
        let joined = try await present(client, in: ShareRequests.zone(zone))
        var codes: [WireErrorCode] = []
        for value in 0..<500 { codes += try await publish("\(value)", client, joined.topic) }
        #expect(codes.count > 100 && Set(codes) == [.zoneBusy])
        let large = String(repeating: "x", count: 1_025)
        try await eventually("there is a token again") {
            try await publish(large, client, joined.topic) == [.limitExceeded]
        }
        try await client.succeed(
            .modifyRecords(try ShareRequests.saving(["b"], in: ShareRequests.zone(zone), client.stamp())))
    }
}
