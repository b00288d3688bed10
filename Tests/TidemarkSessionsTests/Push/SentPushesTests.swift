// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import Testing
import TidemarkBytes
import TidemarkTelemetry
import TidemarkTestSupport
import TidemarkWire

@testable import TidemarkSessions

/// what a server knows of what a device heard.
@Suite struct SentPushesTests {
    private let patience: Duration = .seconds(10)

    @Test func `R-261: what is acknowledged is not owed, and nobody is reminded of it`() {
        var sent = SentPushes()
        #expect(sent.owed == nil && sent.remind(at: .seconds(100), after: patience) == nil)
        #expect(sent.push(at: .seconds(100)) == 1)
        #expect(sent.push(at: .seconds(105)) == 2)
        #expect(sent.owed == 2)
        sent.acknowledged(1, at: .seconds(106))
        #expect(sent.owed == 2 && sent.remind(at: .seconds(115), after: patience) == nil)
        #expect(sent.remind(at: .seconds(116), after: patience) == 0)
        sent.acknowledged(2, at: .seconds(117))
        #expect(sent.owed == nil && sent.remind(at: .seconds(200), after: patience) == nil)
        #expect(sent.end(at: .seconds(200), after: patience) == 0)
    }

    @Test func `R-261: pushes that a reminder did not bring back are counted, each once`() {
        var sent = SentPushes()
        for second in 0..<3 { _ = sent.push(at: .seconds(second)) }
        #expect(sent.remind(at: .seconds(10), after: patience) == 0)
        #expect(sent.remind(at: .seconds(20), after: patience) == 3)
        #expect(sent.remind(at: .seconds(30), after: patience) == 0)
        _ = sent.push(at: .seconds(31))
        #expect(sent.end(at: .seconds(32), after: patience) == 1)
        #expect(sent.end(at: .seconds(99), after: patience) == 0)
        var heard = SentPushes()
        for second in 0..<3 { _ = heard.push(at: .seconds(second)) }
        heard.acknowledged(2, at: .seconds(3))
        #expect(heard.end(at: .seconds(13), after: patience) == 1)
    }

    @Test func `R-261: a connection that ends before there was time to acknowledge counts for nothing`() {
        var sent = SentPushes()
        _ = sent.push(at: .seconds(1))
        #expect(sent.end(at: .seconds(10), after: patience) == 0)
        var late = SentPushes()
        _ = late.push(at: .seconds(1))
        #expect(late.end(at: .seconds(11), after: patience) == 1)
    }

    @Test func `R-261: a device cannot acknowledge what was not sent`() {
        var sent = SentPushes()
        _ = sent.push(at: .zero)
        sent.acknowledged(.max, at: .zero)
        #expect(sent.owed == 1)
        // Nor is it taken at its word later.
        sent.acknowledged(1, at: .zero)
        #expect(sent.owed == nil)
    }
}

/// R-261, over sessions.
@Suite struct NumberedPushTests {
    private let world = SessionWorld()

    private func enter(device: UInt64, counts: Bool) throws -> TestClient {
        let client = world.connect()
        var hello = SessionWorld.hello("alice", device: device)
        hello.countsPushes = counts
        guard case .hello? = try client.ask(.hello(hello)) else { throw SessionWorld.Unexpected(nil) }
        return client
    }

    /// A device that makes changes, and one that counts pushes, or not.
    private func pair(counts: Bool) throws -> (TestClient, TestClient) {
        let maker = try enter(device: 1, counts: false)
        try maker.subscribe()
        try maker.makeZone("notes")
        world.scheduler.advance(by: .seconds(30))
        let other = try enter(device: 2, counts: counts)
        world.scheduler.runUntilIdle()
        return (maker, other)
    }

    private func acknowledge(_ count: UInt64, by client: TestClient) throws {
        var envelope = WireClientEnvelope()
        envelope.pushesHeard = count
        client.post(envelope.encoded)
        world.scheduler.runUntilIdle()
    }

    private func reminders(_ client: TestClient) -> [UInt64] {
        client.inbox.filter { $0.id == 0 && $0.answer == nil }.map(\.pushesSent)
    }

    @Test func `R-261: pushes are numbered, and answers tell of those that are not acknowledged`() throws {
        let (maker, other) = try pair(counts: true)
        for name in ["a", "b"] { try maker.save(name, in: "notes") }
        #expect(
            other.inbox.filter { $0.id == 0 }.map(\.pushesSent) == [1, 2, 3], "one told that it may have missed some")
        func answered() throws -> UInt64? {
            other.forgetInbox()
            try other.makeZone("more")
            return other.inbox.first { $0.id != 0 }?.pushesSent
        }
        #expect(try answered() == 3)
        try acknowledge(3, by: other)
        #expect(try answered() == 0)
        #expect(other.closeCode == nil)
        #expect(maker.inbox.allSatisfy { $0.pushesSent == 0 }, "who does not count is told of nothing")
    }

    @Test func `R-261: who says nothing for 10 s is reminded, until it acknowledges`() throws {
        let (maker, other) = try pair(counts: true)
        world.scheduler.advance(by: .seconds(15))
        try acknowledge(1, by: other)
        other.forgetInbox()
        try maker.save("a", in: "notes")
        world.scheduler.advance(by: .seconds(9))
        #expect(reminders(other) == [])
        world.scheduler.advance(by: .seconds(6))
        #expect(reminders(other).count == 1)
        world.scheduler.advance(by: .seconds(10))
        // The sweep has told of it once more meanwhile.
        let last = try #require(other.inbox.map(\.pushesSent).max())
        #expect(reminders(other).count == 2 && reminders(other).last == last)
        try acknowledge(last, by: other)
        world.scheduler.advance(by: .seconds(600))
        #expect(reminders(other).count == 2)
    }

    @Test func `R-261: unacknowledged pushes are counted for operators`() throws {
        let (maker, other) = try pair(counts: true)
        try maker.save("a", in: "notes")
        let before = SessionMetrics.shared.unacknowledgedPushes.value
        world.scheduler.advance(by: .seconds(11))
        other.disconnect()
        // Other tests may count, too.
        #expect(SessionMetrics.shared.unacknowledgedPushes.value >= before + 2)
        #expect(Measurements.text.contains("tidemark_pushes_unacknowledged_total"))
    }

    /// In a process of its own, because a process has one log.
    @Test func `R-261: the log says of a connection how many pushes it left unacknowledged`() async throws {
        let process = try await #require(processExitsWith: .success, observing: [\.standardErrorContent]) {
            Log.writeToStandardError(level: .info)
            for isHeard in [true, false] {
                let tests = NumberedPushTests()
                let (maker, other) = try tests.pair(counts: true)
                try maker.save("a", in: "notes")
                tests.world.scheduler.advance(by: .seconds(11))
                if isHeard { try tests.acknowledge(other.inbox.map(\.pushesSent).max() ?? 0, by: other) }
                other.disconnect()
            }
        }
        let lines = String(decoding: process.standardErrorContent, as: UTF8.self).split(separator: "\n")
            .filter { $0.contains(" pushes were not acknowledged ") }
        let line = try #require(lines.first)
        #expect(lines.count == 1, "\(lines)")
        #expect(line.contains(" info ") && line.contains(" session="))
        let count = line.firstMatch(of: /count=(\d+)/).flatMap { Int($0.1) } ?? 0
        #expect(count >= 2, "one of the entry and one of the save: \(line)")
    }

    /// In a process of its own, because a process has one log.
    @Test func `R-760: connections that leave pushes unacknowledged get one line, and one with their count`()
        async throws
    {
        let process = try await #require(processExitsWith: .success, observing: [\.standardErrorContent]) {
            Log.writeToStandardError(level: .info)
            for _ in 0..<5 {
                let tests = NumberedPushTests()
                let (maker, other) = try tests.pair(counts: true)
                try maker.save("a", in: "notes")
                tests.world.scheduler.advance(by: .seconds(11))
                other.disconnect()
            }
            FailureLog.shared.end()
        }
        let lines = String(decoding: process.standardErrorContent, as: UTF8.self).split(separator: "\n")
            .filter { $0.contains(" pushes were not acknowledged ") }
        try #require(lines.count == 2, "\(lines)")
        #expect(lines[0].contains(" session=") && lines[1].contains(" repeats=4 "), "\(lines)")
    }

    @Test func `R-261: an older device gets pushes without numbers, and no reminders`() throws {
        let (maker, other) = try pair(counts: false)
        try maker.save("a", in: "notes")
        world.scheduler.advance(by: .seconds(60))
        #expect(!other.pushes.isEmpty && other.inbox.allSatisfy { $0.pushesSent == 0 })
        #expect(reminders(other) == [])
    }

    @Test func `R-261: an acknowledgement before Hello ends the connection like any other message`() throws {
        let client = world.connect()
        try acknowledge(1, by: client)
        #expect(client.closeCode == 4400)
    }
}
