// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import TidemarkDomain
import TidemarkScheduling
import TidemarkTestKit
import TidemarkTestSupport

@testable import TidemarkService

@Suite struct QueryEvaluationStopTests {
    private static let device = DeviceID(high: 0, low: 1)

    private static func save(_ fixture: ServiceFixture) async throws {
        let query = SubscriptionQuery(
            database: fixture.identity.privateDatabase, predicate: .always(true), options: .changes, predicateBytes: [])
        let subscription = Subscription(
            id: "q", scope: .private, kind: .query, recordType: "Note", notificationInfo: [], query: query)
        let saved = try await fixture.server().modifySubscriptions(
            saves: [subscription], deletes: [], scope: .private, of: fixture.identity.user
        ).get()
        #expect(saved.saves == [.success(subscription)])
    }

    @Test func `R-875: a server that stops has told of all that its last changes fire`() throws {
        for seed in UInt64(1)...10 {
            let fixture = try ServiceFixture(seed: seed)
            let fired = Mutex(0)
            let server = fixture.server(firesQueries: true) { moved in
                fired.withLock { $0 += moved.fired.count }
            }
            try fixture.scheduler.simulate {
                try await Self.save(fixture)
                _ = try await server.modify(try fixture.saving(["a", "b"], id: RequestID(Self.device, 1))).get()
                await server.stop()
                #expect(fired.withLock { $0 } == 2)
            }
        }
    }

    @Test func `R-875: a server that stops does not wait long for a store that does not answer`() throws {
        let fixture = try ServiceFixture()
        let script = FaultScript()
        let server = fixture.server(faults: script.plan, firesQueries: true) { _ in }
        try fixture.scheduler.simulate {
            try await Self.save(fixture)
            _ = try await server.modify(try fixture.saving(["a"], id: RequestID(Self.device, 1))).get()
            try await fixture.scheduler.sleep(for: .seconds(1))
            server.forgetAllQueries()
            _ = try await server.modify(try fixture.saving(["b"], id: RequestID(Self.device, 2))).get()
            script.meet(Array(repeating: .disconnect, count: 10_000), at: .callSent)
            let start = fixture.scheduler.now
            await server.stop()
            #expect(fixture.scheduler.now - start < .seconds(3))
        }
    }
}
