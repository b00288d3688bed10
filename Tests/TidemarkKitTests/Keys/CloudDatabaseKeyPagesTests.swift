// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkTestSupport
import TidemarkWire

@testable import TidemarkKit

/// Keys of zones, of which the server sends those of some zones at a time.
@Suite struct CloudDatabaseKeyPagesTests {
    private let scheduler = ManualScheduler()
    private let server: ScriptedServer
    private let database: CKDatabase

    init() {
        server = ScriptedServer(scheduler)
        database = server.container().privateCloudDatabase
    }

    /// The server answers so many zones at a time. Those whose names begin with x are not there.
    private func serve(atOnce countMax: Int) {
        server.answer { envelope in
            guard case .fetchKeys(let request)? = envelope.request else { return nil }
            var answer = WireFetchKeysAnswer()
            answer.account.mode = .escrowed
            answer.zones = request.zones.prefix(countMax).map { zone in
                var result = WireZoneKeysResult()
                result.keys = WireZoneKeys()
                if zone.name.hasPrefix("x") { result.failure.code = .zoneNotFound }
                return result
            }
            return .fetchKeys(answer)
        }
    }

    /// The zones of each request for keys.
    private var asked: [[String]] {
        server.envelopes.compactMap { envelope -> [String]? in
            guard case .fetchKeys(let request)? = envelope.request else { return nil }
            #expect(request.inPages, "a server must not refuse what is more than a page")
            return request.zones.map(\.name)
        }
    }

    /// - Returns: the zones whose keys could not be had.
    private func fetch(_ names: [String]) throws -> [String: CKError.Code] {
        let database = database
        return try scheduler.complete {
            let failures = try await database.cloud.fetchKeys(of: names.map { CKRecordZone.ID(zoneName: $0) })
            return Dictionary(uniqueKeysWithValues: failures.map { ($0.key.zoneName, $0.value.code) })
        }
    }

    @Test func `R-744: keys of all zones are fetched, however many answers that takes`() throws {
        serve(atOnce: 2)
        #expect(try fetch(["a", "x1", "b", "x2", "c"]) == ["x1": .zoneNotFound, "x2": .zoneNotFound])
        #expect(asked == [["a", "x1", "b", "x2", "c"], ["b", "x2", "c"], ["c"]])
    }

    @Test func `R-744: a request asks for at most a hundred zones, and the next one for the rest`() throws {
        serve(atOnce: 60)
        let names = (0..<150).map { "x\($0)" }
        #expect(Set(try fetch(names).keys) == Set(names))
        #expect(asked.map(\.count) == [100, 90, 30])
        #expect(asked.map(\.first) == ["x0", "x60", "x120"])
    }

    @Test func `R-744: a server that answers everything at once is asked once`() throws {
        serve(atOnce: 100)
        #expect(try fetch(["a", "x", "b"]) == ["x": .zoneNotFound])
        #expect(try fetch([]) == [:])
        #expect(asked == [["a", "x", "b"], []])
    }

    @Test func `R-744: a server that answers no zone is not asked for ever`() {
        serve(atOnce: 0)
        let error = #expect(throws: CKError.self) { try fetch(["a"]) }
        #expect(error?.code == .internalError)
        #expect(asked == [["a"]])
    }
}
