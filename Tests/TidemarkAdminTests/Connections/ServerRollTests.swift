// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import TidemarkDomain
import TidemarkService
import TidemarkStore
import TidemarkTestSupport

@testable import TidemarkAdmin

/// Which servers have answered an operator, and what is said about the others.
@Suite struct ServerRollTests {
    private static func time(_ seconds: Int64) -> Timestamp { Timestamp(milliseconds: seconds * 1_000) }

    private func answer(_ server: String, since seconds: Int64 = 0) -> DeviceAnswer {
        DeviceAnswer(question: 1, server: server, serverSince: Self.time(seconds))
    }

    private func link(_ server: String, since seconds: Int64 = 10) -> DeviceLink {
        DeviceLink(server: server, since: Self.time(seconds), credential: CredentialID(1))
    }

    @Test func `R-965: an operator waits until each server that is there has answered`() {
        var roll = ServerRoll(expecting: ["b/2", "a/1"])
        #expect(!roll.isComplete && roll.silent == ["a/1", "b/2"])
        roll.heard(answer("a/1"))
        #expect(roll.silent == ["b/2"])
        // It has begun since, so nobody waits for it.
        roll.heard(answer("c/3"))
        #expect(!roll.isComplete)
        roll.heard(answer("b/2"))
        #expect(roll.isComplete && !roll.isEmpty)
    }

    @Test func `R-965: two servers of one name both answer, and a long name is known by its beginning`() {
        let long = String(repeating: "h", count: 64) + "/1"
        var roll = ServerRoll(expecting: ["a/1", "a/1", ListenerName.part(of: long)])
        roll.heard(answer("a/1"))
        roll.heard(answer(long))
        #expect(roll.silent == ["a/1"])
        #expect(roll.standing(of: link(long)) == .answered)
        roll.heard(answer("a/1", since: 1))
        #expect(roll.isComplete)
    }

    @Test func `R-965: when the time is over, only servers that are still there are silent`() {
        var roll = ServerRoll(expecting: ["a/1", "b/2", "b/2", "c/3"])
        roll.heard(answer("c/3"))
        roll.isLate(["b/2", "c/3", "d/4"])
        #expect(roll.silent == ["b/2"])
        #expect(roll.standing(of: link("a/1")) == .gone)
        #expect(roll.standing(of: link("b/2")) == .silent)
        #expect(roll.standing(of: link("c/3")) == .answered)
        #expect(roll.standing(of: link("d/4")) == .gone)
        roll.isLate([])
        #expect(roll.isComplete && !roll.isEmpty)
    }

    @Test func `R-965: a connection that is older than its server was another process's of the same name`() {
        var roll = ServerRoll(expecting: ["pod/1"])
        roll.heard(answer("pod/1", since: 100))
        #expect(roll.standing(of: link("pod/1", since: 99)) == .gone)
        #expect(roll.standing(of: link("pod/1", since: 100)) == .answered)
        #expect(ServerRoll.unasked.standing(of: link("pod/1")) == .unknown)
    }

    @Test func `R-965: an operator is told which server did not answer, and how old its newest line is`() {
        var roll = ServerRoll(expecting: ["a/1", "b/2", "c/3"])
        roll.heard(answer("c/3"))
        var remarks = ServerRemarks(roll)
        #expect(remarks.add(link("a/1"), notedAt: Self.time(100)) == .silent)
        #expect(remarks.add(link("a/1"), notedAt: Self.time(80)) == .silent)
        #expect(remarks.add(link("c/3"), notedAt: Self.time(50)) == .answered)
        #expect(
            remarks.texts(at: Self.time(140)) == [
                "a/1 did not answer within 3 seconds. Its newest line is 40 s old.",
                "b/2 did not answer within 3 seconds.",
            ])
    }

    @Test func `R-965: an operator is told of connections whose servers are gone, with a few names`() {
        var roll = ServerRoll(expecting: ["a/1"])
        roll.heard(answer("a/1"))
        var one = ServerRemarks(roll)
        #expect(one.texts(at: Self.time(0)).isEmpty)
        #expect(one.add(link("x/9"), notedAt: Self.time(1)) == .gone)
        #expect(
            one.texts(at: Self.time(0)) == [
                "1 connection is of a server that died, or cannot reach the database: x/9."
            ])
        var many = ServerRemarks(roll)
        for number in 1...50 { _ = many.add(link("x/\(number % 7)"), notedAt: Self.time(1)) }
        #expect(
            many.texts(at: Self.time(0)) == [
                "50 connections are of servers that died, or cannot reach the database: x/1, x/2, x/3 and others."
            ])
    }

    @Test func `R-965: an operator is told that there is no server, or that none could be asked`() {
        #expect(ServerRoll(expecting: []).isComplete, "nobody waits")
        let none = ServerRemarks(ServerRoll(expecting: [])).texts(at: Self.time(0))
        #expect(none.count == 1 && none[0].contains("No server that notes devices"))
        let unasked = ServerRemarks(.unasked).texts(at: Self.time(0))
        #expect(unasked.count == 1 && unasked[0].contains("could not be asked"))
    }

    // MARK: With a database

    @Test func `R-965: without a server nobody waits, and what servers noted last is shown`() async throws {
        try await AdminPlace.run { place in
            _ = try await place.user("alice")
            for words in [["connections", "list"], ["xray", "alice"]] {
                let ended = try await place.perform(words)
                #expect(ended.status == .ok)
                #expect(ended.terminal.messages.contains("No server that notes devices"), "\(ended.terminal.messages)")
            }
        }
    }

    @Test func `R-965: a server that hears and does not answer is named, and the command goes on`() async throws {
        try await AdminPlace.run { place in
            _ = try await place.user("alice")
            let (listening, listens) = AsyncStream.makeStream(of: Void.self)
            let listener = try NoticeListener(
                url: place.url, loop: place.loop, server: "mute/1", onNotices: { _ in },
                onListening: { listens.yield() })
            defer { listener.stop() }
            for await _ in listening { break }
            // Whether the command can listen within 3 seconds depends on the machine.
            try await eventually(within: .seconds(120)) {
                let ended = try await place.perform("connections", "list", "alice")
                #expect(ended.status == .ok)
                return ended.terminal.messages == "mute/1 did not answer within 3 seconds.\n"
            }
        }
    }

    @Test func `R-965, R-966: a question names its account, and is answered by whoever hears it`() async throws {
        try await AdminPlace.run { place in
            _ = try await place.user("alice")
            let alice = try #require(try await place.store.account(named: "alice"))
            let (asked, ask) = AsyncStream.makeStream(of: DeviceQuestion.self)
            let (listening, listens) = AsyncStream.makeStream(of: Void.self)
            let listener = try NoticeListener(
                url: place.url, loop: place.loop, server: "host/1",
                onNotices: { notices in
                    for case .devicesAsked(let question) in notices { ask.yield(question) }
                },
                onListening: { listens.yield() })
            defer { listener.stop() }
            for await _ in listening { break }
            let storage = place.storage
            let heard = Mutex<[AccountID?]>([])
            let answering = Task {
                for await question in asked {
                    heard.withLock { $0.append(question.account) }
                    // Another operator's answer ends nobody's wait.
                    let answers = [question.number &+ 1, question.number].map {
                        DeviceAnswer(question: $0, server: "host/1", serverSince: Timestamp(milliseconds: 1))
                    }
                    try await storage.post(answers.map { .devicesWritten($0) })
                }
            }
            // Each question must come in time, and its answer too, which depends on the machine.
            try await eventually(within: .seconds(120)) {
                let ended = try await place.perform("xray", "alice")
                #expect(ended.status == .ok)
                return !heard.withLock { $0.isEmpty } && !ended.terminal.messages.contains("did not answer")
                    && !ended.terminal.messages.contains("could not be asked")
            }
            ask.finish()
            try await answering.value
            #expect(heard.withLock { $0 }.allSatisfy { $0 == alice })
        }
    }
}
