// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkFields
import TidemarkScheduling
import TidemarkService
import TidemarkTelemetry
import TidemarkTestKit
import TidemarkTestSupport

/// Which request is stored with a change, through groups, faults and repeats.
@Suite struct WriteCoordinatorCausesTests {
    private let device = DeviceID(high: 2, low: 2)

    private func trace(_ number: UInt64) -> RequestTrace { RequestTrace(RequestUUID(session: 7, number: number)) }
    private func cause(_ number: UInt64) -> ChangeCause { ChangeCause(trace(number).uuid) }

    @Test(arguments: [
        [:], [FaultPoint.commitSent: [Fault.disconnect]], [.commitAnswered: [.disconnect]],
        [.beginSent: [.disconnect]], [.commitSent: [.commitLate(after: .milliseconds(500))]],
    ])
    func `R-918: each request of a group is stored with its own changes, whatever is lost on the way`(
        _ faults: [FaultPoint: [Fault]]
    ) throws {
        for seed in 0..<10 as Range<UInt64> {
            let fixture = try ServiceFixture(seed: seed)
            let service = fixture.server(faults: FaultScript(first: faults).plan)
            try fixture.scheduler.simulate {
                var tasks: [Task<Result<RecordsOutcome, FailureReason>, Never>] = []
                for number in 1...5 as ClosedRange<UInt64> {
                    let request = try fixture.saving(["r\(number)", "shared"], id: RequestID(device, number))
                    let sending = trace(number)
                    tasks.append(
                        fixture.scheduler.run {
                            await RequestTrace.$current.withValue(sending) { await service.modify(request) }
                        })
                }
                let last = try fixture.saving(["nobody"], id: RequestID(device, 6))
                tasks.append(fixture.scheduler.run { await service.modify(last) })
                let outcomes = await tasks.values()
                #expect(outcomes.allSatisfy { $0.reason == nil }, "seed \(seed)")
                let records = try await fixture.records()
                for number in 1...5 as ClosedRange<UInt64> {
                    let record = records.first { $0.name == "r\(number)" }
                    #expect(record?.cause == cause(number), "seed \(seed): r\(number)")
                }
                #expect(records.first { $0.name == "nobody" }.map { $0.cause == nil } == true)
                // Whoever changed it wrote another record right before it.
                let shared = try #require(records.first { $0.name == "shared" })
                let neighbours = records.filter { $0.name.hasPrefix("r") && $0.changeNumber < shared.changeNumber }
                #expect(neighbours.last?.cause == shared.cause, "seed \(seed)")
            }
        }
    }

    @Test func `R-918, R-157: a request that is sent again has the name of its first sending`() throws {
        let fixture = try ServiceFixture()
        let service = fixture.server()
        try fixture.scheduler.simulate {
            let request = try fixture.saving(["a"], id: RequestID(device, 1))
            for number in 1...2 as ClosedRange<UInt64> {
                let outcome = await RequestTrace.$current.withValue(trace(number)) { await service.modify(request) }
                #expect(outcome.numbers == [1])
            }
            #expect(try await fixture.records().compactMap(\.cause) == [cause(1)])
        }
    }

    @Test func `R-918: of requests that wait for one look at access, each is stored with its own changes`() throws {
        let fixture = try ServiceFixture()
        let service = fixture.server()
        try fixture.scheduler.simulate {
            let bob = try await fixture.user("bob", by: service)
            try await fixture.share(counter: 1, by: service)
            try await RequestTrace.$current.withValue(trace(9)) { try await fixture.accept(bob, by: service) }
            let share = try await fixture.records().first { $0.name == Share.zoneWideName }
            #expect(share?.cause == cause(9), "who accepts gives the CKShare record a new version")
            var tasks: [Task<Result<RecordsOutcome, FailureReason>, Never>] = []
            for number in 1...3 as ClosedRange<UInt64> {
                let save = RecordSave(
                    name: "r\(number)", type: "Note", tag: nil, fields: FieldMap(), parent: .unchanged)
                let request = RecordsRequest(
                    id: RequestID(DeviceID(high: 0, low: 2), number), key: fixture.key(), saves: [save], deletes: [],
                    policy: .allKeys, isAtomic: false, user: bob.user, access: bob.sharedAccess)
                let sending = trace(number)
                tasks.append(
                    fixture.scheduler.run {
                        await RequestTrace.$current.withValue(sending) { await service.modify(request) }
                    })
            }
            let outcomes = await tasks.values()
            #expect(outcomes.allSatisfy { $0.reason == nil })
            let records = try await fixture.records().filter { $0.name != Share.zoneWideName }
            #expect(records.map(\.name).sorted() == ["r1", "r2", "r3"])
            for record in records { #expect(record.cause.map { "r\($0.low & 0xF)" } == record.name) }
        }
    }

    @Test func `R-918: a UUID is the same on both ways`() {
        let uuid = RequestUUID(session: .max, number: 3)
        #expect(RequestUUID(ChangeCause(uuid)) == uuid)
        #expect(ChangeCause.current == nil)
        RequestTrace.$current.withValue(RequestTrace(uuid)) {
            #expect(ChangeCause.current == ChangeCause(uuid))
        }
    }
}
