// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import Synchronization
import Testing
import TidemarkTelemetry
import TidemarkTestKit
import TidemarkTestSupport
import TidemarkWire

@testable import TidemarkSessions

/// Which requests are traced, and what is noted for their traces.
@Suite struct RequestReportsTraceTests {
    /// Chooses all requests but those of some numbers.
    private final class Traces: RequestTracing {
        private let all = Mutex<[TracedRequest]>([])
        private let asked = Mutex<[RequestUUID]>([])
        private let spared: Set<UInt64>

        init(without spared: Set<UInt64> = []) { self.spared = spared }

        var recorded: [TracedRequest] { all.withLock { $0 } }
        var askedCount: Int { asked.withLock { $0.count } }

        func samples(_ request: RequestUUID) -> Bool {
            asked.withLock { $0.append(request) }
            return !spared.contains(request.low & 0xFFFF)
        }

        func record(_ request: TracedRequest) { all.withLock { $0.append(request) } }
    }

    private static let zones = TestClient.zonesRequest

    private func uuid(_ id: UInt64) -> RequestUUID {
        RequestUUID(session: RequestUUID.session(seed: 7, number: 1), number: id)
    }

    @Test func `R-905, R-906: each request that is chosen is recorded once, with what became of it`() throws {
        let traces = Traces()
        let world = SessionWorld {
            $0.requestSeed = 7
            $0.traces = traces
        }
        let client = try world.enter()
        try client.makeZone("notes")
        try client.save("a", in: "notes")
        var refused = try client.saving("a", in: "notes")
        refused.policy = .ifServerRecordUnchanged
        _ = try client.ask(.modifyRecords(refused))
        _ = try client.ask(Self.zones)
        let recorded = traces.recorded
        #expect(
            recorded.map(\.kind) == ["hello", "modify_zones", "modify_records", "modify_records", "fetch_zones"])
        #expect(recorded.map(\.result) == ["ok", "ok", "ok", "server_record_changed", "ok"])
        #expect(recorded.map(\.uuid) == (1...5).map { uuid($0) })
        #expect(recorded.allSatisfy { !$0.isFault && $0.notes.isTraced && $0.start <= $0.end })
        #expect(recorded.map { $0.account != nil } == [false, true, true, true, true])
        #expect(recorded.dropFirst().allSatisfy { $0.answerByteCount > 0 })
        #expect(traces.askedCount == 5)
    }

    @Test func `R-905: nothing is noted for a request that is not chosen`() throws {
        let traces = Traces(without: [1, 3])
        let world = SessionWorld { $0.traces = traces }
        let client = try world.enter()
        try client.makeZone("notes")
        try client.save("a", in: "notes")
        _ = try client.ask(Self.zones)
        #expect(traces.recorded.map(\.kind) == ["modify_zones", "fetch_zones"])
        #expect(traces.askedCount == 4)
    }

    @Test func `R-906: what a request waited for is noted: its turn, and each wait for the store`() throws {
        let traces = Traces()
        let world = SessionWorld { $0.traces = traces }
        let client = try world.enter()
        try client.makeZone("notes")
        world.server.faults.always(.callSent, .delay(.seconds(2)))
        let save = client.post(.modifyRecords(try client.saving("a", in: "notes")))
        world.scheduler.advance(by: .seconds(60))
        let zones = client.post(Self.zones)
        world.scheduler.advance(by: .seconds(60))
        #expect(client.answer(to: save) != nil && client.answer(to: zones) != nil)
        let recorded = traces.recorded
        for kind in ["modify_records", "fetch_zones"] {
            let request = try #require(recorded.first { $0.kind == kind })
            let waits = request.notes.storeWaits
            let time = waits.reduce(Duration.zero) { $0 + ($1.end - $1.start) }
            #expect(time >= .seconds(2) && time <= request.end - request.start, "\(kind): \(waits)")
            #expect(waits.allSatisfy { $0.start >= request.start && $0.end <= request.end }, "\(kind): \(waits)")
        }
        #expect(recorded.first { $0.kind == "fetch_zones" }?.turn != nil)
    }

    @Test func `R-906: a save that goes another way to the store, because of a share, notes its wait as well`() throws {
        let traces = Traces()
        let world = SessionWorld { $0.traces = traces }
        let pair = try SharingPair(world)
        try pair.alice.makeZone("more")
        // A transaction that locks and reads: making a link is a single call.
        world.server.faults.always(.beginSent, .delay(.seconds(2)))
        world.server.faults.always(.commitSent, .delay(.seconds(2)))
        let save = try ShareRequests.saving(["b"], in: pair.zone, pair.bob.stamp())
        for (client, request) in [
            (pair.alice, ShareRequests.share("more", .readOnly, pair.alice.stamp())), (pair.bob, save),
        ] {
            let id = client.post(.modifyRecords(request))
            world.scheduler.advance(by: .seconds(60))
            #expect(client.answer(to: id) != nil)
            let notes = try #require(traces.recorded.last { $0.kind == "modify_records" }).notes
            let time = notes.storeWaits.reduce(Duration.zero) { $0 + ($1.end - $1.start) }
            #expect(time >= .seconds(2), "\(notes.storeWaits)")
        }
    }

    @Test func `R-906: a fault of the server is one, and a refusal is none`() throws {
        let traces = Traces()
        let world = SessionWorld { $0.traces = traces }
        let client = try world.enter()
        var elsewhere = WireFetchDatabaseChanges()
        elsewhere.database = .public
        _ = try client.ask(.fetchDatabaseChanges(elsewhere))
        world.server.faults.always(.callSent, .reject)
        _ = client.post(Self.zones)
        world.scheduler.advance(by: .seconds(60))
        let recorded = traces.recorded.dropFirst()
        #expect(recorded.map(\.result) == ["bad_database", "internal_error"])
        #expect(recorded.map(\.isFault) == [false, true])
    }
}
