// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import Testing
import TidemarkTelemetry
import TidemarkTestKit
import TidemarkTestSupport
import TidemarkWire

@testable import TidemarkSessions

/// What the log says of requests. Each test has a process of its own, because a process has one log.
@Suite struct RequestReportsTests {
    /// The name of a request in the first session of a server.
    private static func uuid(_ id: UInt64, seed: UInt64 = 7) -> String {
        "\(RequestUUID(session: RequestUUID.session(seed: seed, number: 1), number: id))"
    }

    private static let zones: WireClientEnvelope.OneOfRequest = {
        var request = WireFetchZones()
        request.database = .private
        return .fetchZones(request)
    }()

    private static func query() -> WireClientEnvelope.OneOfRequest {
        var request = WireQueryRecords()
        request.database = .private
        request.query.recordType = "Note"
        return .queryRecords(request)
    }

    private static func lines(_ bytes: [UInt8]) -> [Substring] {
        String(decoding: bytes, as: UTF8.self).split(separator: "\n")
    }

    private static func value(_ key: String, in line: Substring) throws -> String {
        let text = try #require(line.firstMatch(of: try Regex(" \(key)=(\\S+)")), "\(key) in \(line)")
        return String(text.output[1].substring ?? "")
    }

    @Test func `R-820: Hello brings the bytes that name requests, each session its own, and so does its refusal`()
        throws
    {
        let world = SessionWorld { $0.requestSeed = 7 }
        let (first, second, refused) = (try world.enter(), try world.enter("bob"), world.connect())
        _ = try refused.ask(.hello(SessionWorld.hello("mallory")))
        let sessions = [first, second].map { client -> [UInt8] in
            if case .hello(let hello)? = client.inbox.first?.answer { hello.requestSession } else { [] }
        }
        for (number, bytes) in (sessions + [refused.failures.first?.requestSession ?? []]).enumerated() {
            let bits = RequestUUID.session(seed: 7, number: UInt64(number) + 1)
            #expect(bytes == RequestUUID.bytes(ofSession: bits), "session \(number)")
        }
        // The failure of another request has none: its client knows them.
        _ = try first.ask(.hello(SessionWorld.hello("alice")))
        #expect(first.failures.map(\.requestSession) == [[]])
    }

    @Test func `R-820, R-822: at debug each request has one line, with its UUID and what became of it`() async throws {
        let process = try await #require(processExitsWith: .success, observing: [\.standardErrorContent]) {
            Log.writeToStandardError(level: .debug)
            let world = SessionWorld { $0.requestSeed = 7 }
            let client = try world.enter()
            try client.makeZone("notes")
            // There is no such request, and this one is refused by its handler.
            client.post(nil)
            var request = WireFetchZones()
            (request.database, request.cursor) = (.private, [0xFF])
            _ = try client.ask(.fetchZones(request))
        }
        let lines = Self.lines(process.standardErrorContent).filter { $0.contains(" debug request ") }
        try #require(lines.count == 2, "\(lines)")
        #expect(try Self.value("request", in: lines[0]) == Self.uuid(2))
        #expect(try Self.value("kind", in: lines[0]) == "modify_zones")
        #expect(try Self.value("result", in: lines[0]) == "ok")
        #expect(try Int(Self.value("bytes", in: lines[0])) ?? 0 > 0)
        #expect(try Self.value("milliseconds", in: lines[0]) == "0.000")
        #expect(try Int(Self.value("account", in: lines[0])) ?? 0 > 0)
        #expect(try Self.value("request", in: lines[1]) == Self.uuid(4))
        #expect(try Self.value("result", in: lines[1]) == "invalidArguments")
        let refused = Self.lines(process.standardErrorContent).filter { $0.contains(" a request was refused at once ") }
        #expect(refused.count == 1 && refused[0].contains(" request=\(Self.uuid(3))"), "\(refused)")
    }

    @Test func `R-824: a slow request has a warning with its UUID, and the others of its kind are a count`()
        async throws
    {
        let process = try await #require(processExitsWith: .success, observing: [\.standardErrorContent]) {
            Log.writeToStandardError(level: .info)
            let world = SessionWorld {
                $0.requestSeed = 7
                $0.slowRequestTime = .seconds(1)
            }
            let client = try world.enter()
            try client.makeZone("notes")
            world.server.faults.always(.callSent, .delay(.seconds(2)))
            for request in [RequestReportsTests.zones, RequestReportsTests.zones, RequestReportsTests.query()] {
                client.post(request)
                world.scheduler.advance(by: .seconds(30))
            }
            FailureLog.shared.end()
        }
        let lines = Self.lines(process.standardErrorContent).filter { $0.contains(" a request was slow ") }
        try #require(lines.count == 3, "\(Self.lines(process.standardErrorContent))")
        #expect(lines.allSatisfy { $0.contains(" warning ") })
        #expect(try Self.value("request", in: lines[0]) == Self.uuid(3))
        #expect(try Self.value("cause", in: lines[0]) == "fetch_zones")
        #expect(try Double(Self.value("milliseconds", in: lines[0])) ?? 0 >= 2_000)
        #expect(try Self.value("turn_milliseconds", in: lines[0]) == "0.000")
        #expect(try Int(Self.value("account", in: lines[0])) ?? 0 > 0)
        #expect(try Self.value("request", in: lines[1]) == Self.uuid(5))
        #expect(try Self.value("cause", in: lines[1]) == "query_records")
        #expect(try Self.value("turn_milliseconds", in: lines[1]) == "0.000")
        #expect(lines[2].contains(" cause=fetch_zones repeats=1 "), "\(lines[2])")
    }

    @Test func `R-824: no request is slow if none is to be, or if it is as fast as it may`() async throws {
        let process = try await #require(processExitsWith: .success, observing: [\.standardErrorContent]) {
            Log.writeToStandardError(level: .info)
            for (limit, delay) in [(Duration?.none, Duration.seconds(2)), (.seconds(60), .seconds(2))] {
                let world = SessionWorld { $0.slowRequestTime = limit }
                let client = try world.enter()
                world.server.faults.always(.callSent, .delay(delay))
                let id = client.post(RequestReportsTests.zones)
                world.scheduler.advance(by: .seconds(30))
                guard case .fetchZones? = client.answer(to: id) else {
                    throw SessionWorld.Unexpected(client.answer(to: id))
                }
            }
        }
        #expect(!Self.lines(process.standardErrorContent).contains { $0.contains("slow") })
    }

    @Test func `R-824: milliseconds have three places`() {
        #expect(RequestReports.milliseconds(.zero) == "0.000")
        #expect(RequestReports.milliseconds(.microseconds(7)) == "0.007")
        #expect(RequestReports.milliseconds(.seconds(61) + .microseconds(20_450)) == "61020.450")
    }
}
