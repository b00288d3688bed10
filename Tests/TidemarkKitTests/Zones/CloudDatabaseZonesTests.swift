// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkTestSupport
import TidemarkWire

@testable import TidemarkKit

/// All zones of a database, of which the server sends a page at a time.
@Suite struct CloudDatabaseZonesTests {
    private let scheduler = ManualScheduler()
    private let server: ScriptedServer
    private let database: CKDatabase

    init() {
        server = ScriptedServer(scheduler)
        database = server.container().privateCloudDatabase
    }

    /// The server has these pages. The cursor of a page is its number.
    private func serve(_ pages: [[String]]) {
        server.answer { envelope in
            guard case .fetchZones(let request)? = envelope.request, request.zones.isEmpty else { return nil }
            let number = Int(request.cursor.first ?? 0)
            var answer = WireFetchZonesAnswer()
            answer.zones = pages[number].map { name in
                var result = WireZoneResult()
                result.zone.id.name = name
                return result
            }
            if number + 1 < pages.count { answer.cursor = [UInt8(number + 1)] }
            return .fetchZones(answer)
        }
    }

    /// The cursors that the server was asked with.
    private var cursors: [[UInt8]] {
        server.envelopes.compactMap { envelope -> [UInt8]? in
            if case .fetchZones(let request)? = envelope.request { request.cursor } else { nil }
        }
    }

    private func names() throws -> [String] {
        let database = database
        return try scheduler.complete { try await database.allRecordZones().map(\.zoneID.zoneName) }
    }

    @Test func `R-022, R-716: all zones are there, however many pages they have`() throws {
        serve([["_defaultZone"]])
        #expect(try names() == ["_defaultZone"])
        #expect(cursors == [[]], "an answer without a cursor is the last")
        serve([["_defaultZone", "b"], ["a", "d"], ["c"]])
        #expect(try names() == ["_defaultZone", "b", "a", "d", "c"])
        #expect(cursors == [[], [], [1], [2]])
    }

    @Test func `R-716: a zone that is deleted and created again between two pages is there once`() throws {
        serve([["_defaultZone", "a", "b"], ["c", "d"], ["a", "e"]])
        #expect(try names() == ["_defaultZone", "b", "c", "d", "a", "e"])
    }

    @Test func `R-716: an operation tells of the zones of all pages`() async throws {
        serve([["_defaultZone", "a"], ["b"], ["c"]])
        let operation = CKFetchRecordZonesOperation.fetchAllRecordZonesOperation()
        let told = Locked<[String]>([])
        operation.perRecordZoneResultBlock = { id, _ in told.withLock { $0.append(id.zoneName) } }
        database.add(operation)
        try await eventually {
            scheduler.runUntilIdle()
            return operation.isFinished
        }
        #expect(told.withLock { $0 } == ["_defaultZone", "a", "b", "c"])
    }

    @Test func `R-716: a server that sends nothing and says that there is more is not asked for ever`() {
        serve([["_defaultZone"], [], ["a"]])
        let error = #expect(throws: CKError.self) { try names() }
        #expect(error?.code == .internalError)
        #expect(cursors == [[], [1]])
    }
}
