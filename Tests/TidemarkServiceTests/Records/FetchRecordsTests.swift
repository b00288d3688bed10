// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkScheduling
import TidemarkService
import TidemarkTestKit
import TidemarkTestSupport

@Suite struct FetchRecordsTests {
    private let device = DeviceID(high: 2, low: 2)

    @Test func `R-170: records are fetched by name, each with its own result`() throws {
        let fixture = try ServiceFixture()
        let service = fixture.server(faults: FaultScript(first: [.callSent: [.disconnect]]).plan)
        try fixture.scheduler.simulate {
            _ = await service.modify(try fixture.saving(["a", "b", "c"], id: RequestID(device, 1)))
            _ = await service.modify(try fixture.saving([], deleting: ["b"], id: RequestID(device, 2)))
            let lookup = try await service.records(
                named: ["c", "b", "never", "a", "c"], in: fixture.key(), by: .owner(UserID(1))
            ).get()
            #expect(
                lookup.records.map { result in result.map(\.name) } == [
                    .success("c"), .failure(.recordUnknown), .failure(.recordUnknown), .success("a"), .success("c"),
                ])
            #expect(lookup.zone.key == fixture.key())
        }
    }

    @Test(arguments: [("none", FailureReason.zoneNotFound), ("_odd", .zoneNameInvalid), ("purged", .zonePurged)])
    func `R-029, R-106: a fetch in a missing zone says why`(_ zone: String, _ reason: FailureReason) throws {
        let fixture = try ServiceFixture(zones: ["purged"])
        fixture.database.endZone(fixture.key("purged"), reason: .purged)
        let service = fixture.server()
        try fixture.scheduler.simulate {
            for name in ["a", Share.zoneWideName] {
                guard
                    case .failure(let told) = await service.records(
                        named: [name], in: fixture.key(zone), by: .owner(UserID(1)))
                else {
                    Issue.record("there is no such zone")
                    return
                }
                #expect(told == reason, "\(name)")
            }
        }
    }

    @Test func `answers are bounded by bytes, and the client asks for the rest`() throws {
        let fixture = try ServiceFixture()
        var limits = Limits()
        limits.answerBytesMax = 250
        let service = fixture.server(limits: limits)
        try fixture.scheduler.simulate {
            let names = ["a", "b", "c", "d"]
            let request = try fixture.saving(names, text: String(repeating: "x", count: 100), id: RequestID(device, 1))
            _ = await service.modify(request)
            let lookup = try await service.records(named: names, in: fixture.key(), by: .owner(UserID(1))).get()
            #expect(lookup.records.count == 2)
            let page = try await service.zoneChanges(of: fixture, token: []).get()
            #expect(page.entries.count == 2 && page.moreComing)
        }
    }
}
