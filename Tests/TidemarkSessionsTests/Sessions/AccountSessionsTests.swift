// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import Testing
import TidemarkDomain
import TidemarkScheduling
import TidemarkService
import TidemarkTelemetry
import TidemarkTestKit
import TidemarkTestSupport
import TidemarkWire

/// Two devices with one identity, such as a folder and its copy, or a backup that was restored on a second machine.
@Suite struct AccountSessionsTests {
    private static func isTaken(_ client: TestClient) -> Bool {
        client.inbox.contains { if case .hello(let answer)? = $0.answer { answer.deviceTaken } else { false } }
    }

    private static func save(
        _ name: String, counter: UInt64, nonce: UInt64 = 1, repeated: Bool = false, epoch: UInt64 = 1,
        by client: TestClient
    ) throws -> WireErrorCode {
        var request = WireModifyRecords()
        request.database = .private
        request.stamp.counter = counter
        request.stamp.lowestUnanswered = 1
        request.stamp.repeated = repeated
        request.stamp.epoch = epoch
        request.stamp.nonce = nonce
        var zone = WireZoneModifications()
        zone.zone = TestClient.zone("notes")
        var save = WireRecordSave()
        (save.name, save.type) = (name, "Note")
        zone.saves = [save]
        request.zones = [zone]
        switch try client.ask(.modifyRecords(request)) {
        case .modifyRecords(let answer)?: return answer.zones.first?.saves.first?.failure.failure.code ?? .internalError
        case .failure(let failure)?: return failure.code
        case let other: throw SessionWorld.Unexpected(other)
        }
    }

    private static func copies(_ world: SessionWorld) throws -> (TestClient, TestClient) {
        let first = try world.enter(device: 1, life: 1)
        try first.subscribe()
        try first.makeZone("notes")
        let second = try world.enter(device: 1, life: 2)
        world.scheduler.advance(by: .seconds(60))
        first.forgetInbox()
        second.forgetInbox()
        return (first, second)
    }

    @Test func `R-355: the newer of two that are connected under one identity is told to take another`() throws {
        for loopCount in [1, 2] {
            let world = SessionWorld(loopCount: loopCount)
            let first = try world.enter(device: 1, life: 1)
            #expect(!Self.isTaken(first))
            let second = try world.enter(device: 1, life: 2, server: world.loops[loopCount - 1])
            #expect(Self.isTaken(second))
            // Who comes again as before, while the server has not noticed the cut yet, is no copy of itself.
            first.disconnect()
            second.disconnect()
            let again = try world.enter(device: 1, life: 2)
            let beside = try world.enter(device: 1, life: 2, server: world.loops[loopCount - 1])
            #expect(!Self.isTaken(again) && !Self.isTaken(beside))
            // Another account may use the same bits.
            #expect(!Self.isTaken(try world.enter("bob", device: 1, life: 3)))
            #expect(!Self.isTaken(try world.enter(device: 2, life: 4)))
        }
    }

    /// In a process of its own, because a process has one log.
    @Test func `R-355, R-760: a copied device that comes again and again gets one line, and one with its count`()
        async throws
    {
        let process = try await #require(processExitsWith: .success, observing: [\.standardErrorContent]) {
            Log.writeToStandardError(level: .info)
            let world = SessionWorld()
            let first = try world.enter(device: 1, life: 1)
            for life in UInt64(2)...6 { try world.enter(device: 1, life: life).disconnect() }
            first.disconnect()
            FailureLog.shared.end()
        }
        let lines = String(decoding: process.standardErrorContent, as: UTF8.self).split(separator: "\n")
            .filter { $0.contains(" two devices have one identity: ") }
        try #require(lines.count == 2, "\(lines)")
        #expect(lines[0].contains(" warning ") && lines[0].contains(" account="), "\(lines)")
        #expect(lines[1].contains(" repeats=4 "), "\(lines)")
    }

    @Test func `R-248, R-355: two with one identity are pushed each other's changes, and none of their own`() throws {
        let world = SessionWorld()
        let (first, second) = try Self.copies(world)
        #expect(try Self.save("a", counter: 2, by: first) == .unspecified)
        #expect(first.pushes.isEmpty && second.pushes.map { $0.zones.map(\.name) } == [["notes"]])
        second.forgetInbox()
        #expect(try Self.save("b", counter: 1, by: second) == .unspecified)
        #expect(second.pushes.isEmpty && first.pushes.map { $0.zones.map(\.name) } == [["notes"]])
    }

    @Test func `R-157, R-355: requests of two with one identity and one counter are two requests`() throws {
        let world = SessionWorld()
        let (first, second) = try Self.copies(world)
        for counter in UInt64(2)...4 {
            #expect(try Self.save("first \(counter)", counter: counter, by: first) == .unspecified)
            #expect(try Self.save("second \(counter)", counter: counter, by: second) == .unspecified)
            // Each gets its own outcome again.
            #expect(try Self.save("first \(counter)", counter: counter, repeated: true, by: first) == .unspecified)
            // Who lives the same life, such as a copy of a running machine, gets nobody's.
            #expect(try Self.save("copy", counter: counter, nonce: 2, by: first) == .serverResponseLost)
            #expect(
                try Self.save("copy", counter: counter, nonce: 2, repeated: true, by: first) == .serverResponseLost)
        }
        var fetch = WireFetchRecords()
        fetch.database = .private
        fetch.zones = [WireZoneRecordNames()]
        fetch.zones[0].zone = TestClient.zone("notes")
        fetch.zones[0].names = (2...4).flatMap { ["first \($0)", "second \($0)"] }
        guard case .fetchRecords(let answer)? = try first.ask(.fetchRecords(fetch)) else { throw NoAnswer() }
        #expect(answer.results.count == 6)
        for result in answer.results { #expect(result.failure.code == .unspecified) }
    }

    private struct NoAnswer: Error {}

    @Test func `R-157: what is forgotten is not applied again, and not said to be refused`() async throws {
        let world = SessionWorld()
        let (first, _) = try Self.copies(world)
        #expect(try Self.save("a", counter: 2, by: first) == .unspecified)
        let store = MemoryStore(world.database)
        let kept = Limits().memoryEpochsKept
        for _ in 0..<kept {
            let advance = world.scheduler.runThrowing {
                try await store.advanceMemoryEpoch(after: .zero, keeping: kept)
            }
            world.scheduler.runUntilIdle()
            #expect(try await advance.value)
        }
        #expect(try Self.save("a", counter: 2, repeated: true, by: first) == .serverResponseLost)
        // Sent for the first time in the epoch that is kept longest ago: it cannot have been forgotten.
        #expect(try Self.save("b", counter: 3, repeated: true, epoch: 2, by: first) == .unspecified)
        // However long the connection lasts, a first sending is decided.
        #expect(try Self.save("c", counter: 4, epoch: 1, by: first) == .unspecified)
    }

    @Test func `R-725: what a process sent before it ended does not come after what its successor did`() throws {
        let world = SessionWorld()
        let ended = try world.enter(device: 1, life: 1)
        try ended.makeZone("notes")
        for point in [FaultPoint.beginSent, .commitSent] { world.server.faults.always(point, .disconnect) }
        _ = ended.post(.modifyRecords(try ended.saving("draft", in: "notes")))
        world.scheduler.advance(by: .milliseconds(10))
        ended.disconnect()
        for point in [FaultPoint.beginSent, .commitSent] { world.server.faults.always(point, .none) }
        let successor = try world.enter(device: 1, life: 2, server: world.anotherServer())
        try successor.save("draft", in: "notes")
        var delete = try successor.saving("draft", in: "notes")
        delete.zones[0].deletes = ["draft"]
        delete.zones[0].saves = []
        _ = try successor.ask(.modifyRecords(delete))
        world.scheduler.advance(by: .seconds(60))
        let answer = try successor.ask(.fetchZoneChanges(TestClient.zoneChanges("notes")))
        guard case .fetchZoneChanges(let page)? = answer else { throw SessionWorld.Unexpected(answer) }
        #expect(!page.changes.contains { if case .record? = $0.change { true } else { false } })
    }
}
