// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import Testing
import TidemarkBytes
import TidemarkDomain
import TidemarkTelemetry
import TidemarkTestSupport
import TidemarkTranslation
import TidemarkWire

@testable import TidemarkSessions

/// What is counted of requests and pushes. Each test has a process of its own, where nobody else counts.
@Suite struct SessionMetricsTests {
    @Test func `R-814: saves, refused saves, fetches and pushes are counted with their kind and result`() async {
        await #expect(processExitsWith: .success) {
            let world = SessionWorld()
            let metrics = SessionMetrics.shared
            let alice = try world.enter(device: 1)
            try alice.subscribe()
            try alice.makeZone("notes")
            let other = try world.enter(device: 2)
            let pushed = metrics.pushes.value(.hint) + metrics.pushes.value(.changes)
            try alice.save("a", in: "notes")
            let morePushed = metrics.pushes.value(.hint) + metrics.pushes.value(.changes)
            precondition(morePushed > pushed && !other.pushes.isEmpty, "\(morePushed) after \(pushed)")
            var saving = try alice.saving("a", in: "notes")
            saving.policy = .ifServerRecordUnchanged
            _ = try alice.ask(.modifyRecords(saving))
            _ = try alice.ask(.modifyRecords(alice.saving("b", in: "elsewhere")))
            _ = try alice.ask(.fetchZoneChanges(TestClient.zoneChanges("notes")))
            _ = try alice.ask(.fetchZoneChanges(TestClient.zoneChanges("elsewhere")))
            let text = try MetricsScrape(Measurements.text)
            func count(_ request: String, _ result: String) -> Double? {
                text.value("tidemark_requests_total", ["request": request, "result": result])
            }
            precondition(count("hello", "ok") == 2)
            precondition(count("modify_records", "ok") == 1)
            precondition(count("modify_records", "server_record_changed") == 1)
            precondition(count("modify_records", "zone_not_found") == 1)
            precondition(count("modify_zones", "ok") == 1 && count("modify_subscriptions", "ok") == 1)
            precondition(count("fetch_zone_changes", "ok") == 1)
            precondition(count("fetch_zone_changes", "zone_not_found") == 1)
            precondition(text["tidemark_requests_total"]?.samples.reduce(0) { $0 + $1.value } == 9)
            precondition(text.value("tidemark_request_seconds_count", ["request": "modify_records"]) == 3)
            precondition(text.value("tidemark_requests_under_way") == 0)
        }
    }

    @Test func `R-814: a request that fails in part counts with the first failure, and not with that of its batch`()
        async
    {
        await #expect(processExitsWith: .success) {
            let world = SessionWorld()
            let alice = try world.enter()
            try alice.makeZone("notes")
            try alice.save("a", in: "notes")
            var saving = try alice.saving("a", in: "notes")
            saving.policy = .ifServerRecordUnchanged
            saving.zones[0].saves.insert(try alice.saving("b", in: "notes").zones[0].saves[0], at: 0)
            saving.atomic = true
            guard case .modifyRecords(let answer)? = try alice.ask(.modifyRecords(saving)) else {
                preconditionFailure()
            }
            let codes = answer.zones[0].saves.map(\.failure.failure.code)
            precondition(codes == [.batchRequestFailed, .serverRecordChanged], "\(codes)")
            let requests = SessionMetrics.shared.requests
            precondition(requests.value(.modifyRecords, .serverRecordChanged) == 1)
            precondition(requests.value(.modifyRecords, .batchRequestFailed) == 0)
        }
    }

    @Test func `R-814: a fetch in which something was not found counts with the code of that`() async {
        await #expect(processExitsWith: .success) {
            let world = SessionWorld()
            let alice = try world.enter()
            try alice.makeZone("notes")
            try alice.save("a", in: "notes")
            var part = WireZoneRecordNames()
            (part.zone, part.names) = (TestClient.zone("notes"), ["a", "none"])
            var records = WireFetchRecords()
            (records.database, records.zones) = (.private, [part])
            var zones = WireFetchZones()
            (zones.database, zones.zones) = (.private, [TestClient.zone("notes"), TestClient.zone("none")])
            var keys = WireFetchKeys()
            (keys.database, keys.zones) = (.private, [TestClient.zone("none")])
            var subscriptions = WireFetchSubscriptions()
            (subscriptions.database, subscriptions.ids) = (.private, ["none"])
            var metadata = WireFetchShareMetadata()
            metadata.links = ["no link"]
            var lookup = WireParticipantLookup()
            lookup.user = "_nobody"
            var people = WireFetchShareParticipants()
            people.lookups = [lookup]
            let questions: [(WireClientEnvelope.OneOfRequest, WireRequestKind, RequestResult)] = [
                (.fetchRecords(records), .fetchRecords, .unknownItem),
                (.fetchZones(zones), .fetchZones, .zoneNotFound),
                (.fetchKeys(keys), .fetchKeys, .zoneNotFound),
                (.fetchSubscriptions(subscriptions), .fetchSubscriptions, .unknownItem),
                (.fetchShareMetadata(metadata), .fetchShareMetadata, .unknownItem),
                (.fetchShareParticipants(people), .fetchShareParticipants, .unknownItem),
            ]
            let requests = SessionMetrics.shared.requests
            for (request, kind, result) in questions {
                let answer = try alice.ask(request)
                if case .failure? = answer { preconditionFailure("\(kind) was refused as a whole") }
                precondition(requests.value(kind, result) == 1, "\(kind)")
                precondition(requests.value(kind, .ok) == 0, "\(kind)")
            }
            records.zones[0].names = ["a"]
            _ = try alice.ask(.fetchRecords(records))
            precondition(requests.value(.fetchRecords, .ok) == 1)
        }
    }

    @Test func `R-814: each Hello counts once, with the answer that it gets`() async {
        await #expect(processExitsWith: .success) {
            let world = SessionWorld { $0.sessionsPerAccountMax = 1 }
            let metrics = SessionMetrics.shared
            let first = try world.enter()
            let second = world.connect()
            _ = try second.ask(.hello(SessionWorld.hello("alice", device: 2)))
            precondition(metrics.requests.value(.hello, .ok) == 1, "the second one has no place")
            precondition(metrics.requests.value(.hello, .requestRateLimited) == 1)
            let page = world.connect()
            page.becomeForeignPage()
            _ = try page.ask(.hello(SessionWorld.hello("")))
            precondition(metrics.requests.value(.hello, .notAuthenticated) == 1)
            let gone = world.connect()
            gone.post(.hello(SessionWorld.hello("bob")))
            gone.disconnect()
            world.scheduler.runUntilIdle()
            let counts = RequestResult.allCases.map { metrics.requests.value(.hello, $0) }
            precondition(counts.reduce(0, +) == 4, "\(counts)")
            precondition(metrics.requests.value(.hello, .ok) == 1)
            precondition(metrics.underWay.value == 0)
            first.disconnect()
        }
    }

    @Test func `R-814: sessions are counted by who is here, from the connection to its end`() async {
        await #expect(processExitsWith: .success) {
            let world = SessionWorld()
            let sessions = SessionMetrics.shared.sessions
            func counts() -> [Int] { SessionMetrics.Caller.allCases.map { sessions.value($0) } }
            let silent = world.connect()
            precondition(counts() == [1, 0, 0])
            let alice = try world.enter()
            let nobody = world.connect()
            _ = try nobody.ask(.hello(SessionWorld.hello("")))
            precondition(counts() == [1, 1, 1], "\(counts())")
            let stranger = world.connect()
            _ = try stranger.ask(.hello(SessionWorld.hello("mallory")))
            precondition(SessionMetrics.shared.requests.value(.hello, .notAuthenticated) == 1)
            for client in [silent, alice, nobody, stranger] { client.disconnect() }
            for client in [silent, alice, nobody, stranger] { client.disconnect() }
            precondition(counts() == [0, 0, 0], "\(counts())")
        }
    }

    @Test func `R-814: pushes are counted when they are sent, acknowledged and missed, each once`() async {
        await #expect(processExitsWith: .success) {
            let world = SessionWorld()
            let metrics = SessionMetrics.shared
            let maker = try world.enter(device: 1)
            try maker.subscribe()
            try maker.makeZone("notes")
            world.scheduler.advance(by: .seconds(30))
            let other = world.connect()
            var hello = SessionWorld.hello("alice", device: 2)
            hello.countsPushes = true
            _ = try other.ask(.hello(hello))
            world.scheduler.runUntilIdle()
            func acknowledge(_ count: UInt64) {
                var envelope = WireClientEnvelope()
                envelope.pushesHeard = count
                other.post(envelope.encoded)
                world.scheduler.runUntilIdle()
            }
            try maker.save("a", in: "notes")
            let sent = other.inbox.map(\.pushesSent).max() ?? 0
            precondition(sent >= 1 && metrics.acknowledgedPushes.value == 0)
            acknowledge(sent)
            acknowledge(sent)
            acknowledge(sent + 100)
            precondition(metrics.acknowledgedPushes.value == Int(sent), "\(metrics.acknowledgedPushes.value)")
            try maker.save("b", in: "notes")
            world.scheduler.advance(by: .seconds(11))
            other.disconnect()
            precondition(metrics.unacknowledgedPushes.value >= 1)
            precondition(metrics.acknowledgedPushes.value == Int(sent))
        }
    }
}

@Suite struct RequestResultTests {
    @Test func `R-810: the label of a request is its name in the protocol`() {
        #expect(WireRequestKind.texts == WireRequestKind.allCases.map(\.name))
        #expect(WireRequestKind.fetchZoneChanges.text == "fetch_zone_changes")
        #expect(WireRequestKind.hello.text == "hello" && WireRequestKind.unread.text == "unread")
    }

    @Test func `R-814: each code that a failure has is a result of its own`() {
        #expect(RequestResult(nil) == .ok)
        for reason in FailureReason.allCases {
            #expect(RequestResult(reason) != .other && RequestResult(reason) != .ok, "\(reason)")
        }
        let codes = Dictionary(grouping: FailureReason.allCases) { RequestResult($0) }
        for (result, reasons) in codes {
            #expect(Set(reasons.map { "\($0.code)" }).count == 1, "\(result): \(reasons)")
        }
    }
}
