// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkFields
import TidemarkScheduling
import TidemarkService
import TidemarkTestKit
import TidemarkTestSupport

/// Requests whose records are too large together, as they are stored.
@Suite struct WriteCoordinatorStoredBytesTests {
    private let device = DeviceID(high: 2, low: 2)
    private let names = ["a", "b", "c", "d", "e"]

    /// Saves all records, and makes a server without a cache that reads two of them in a transaction.
    private func server(of fixture: ServiceFixture, faults: FaultPlan = FaultPlan()) async throws -> CloudService {
        let saving = try fixture.saving(names, id: RequestID(DeviceID(high: 3, low: 3), 1))
        _ = try await fixture.server().modify(saving).get()
        var limits = Limits()
        limits.storedBytesMax = try await fixture.records().reduce(0) { $0 + $1.fields.byteCount } * 2 / names.count
        var settings = WriteSettings()
        settings.knownBytesMax = 0
        return fixture.server(faults: faults, settings: settings, limits: limits)
    }

    @Test func `R-724: each attempt saves some of the records, until all are saved`() throws {
        let fixture = try ServiceFixture()
        try fixture.scheduler.simulate {
            let service = try await server(of: fixture)
            var waiting = names
            for (attempt, count) in [2, 2, 1].enumerated() {
                let request = try fixture.saving(waiting, text: "more", id: RequestID(device, UInt64(attempt) + 1))
                let outcome = try await service.modify(request).get()
                let reasons = outcome.saves.map { save -> FailureReason? in
                    if case .failed(let failure) = save { failure.reason } else { nil }
                }
                #expect(reasons == waiting.indices.map { $0 < count ? nil : .tooMuchAtOnce })
                waiting.removeFirst(count)
            }
            #expect(waiting.isEmpty)
        }
    }

    @Test func `R-724, R-155: an atomic batch is refused, and its halves pass`() throws {
        let fixture = try ServiceFixture()
        try fixture.scheduler.simulate {
            let service = try await server(of: fixture)
            var counter: UInt64 = 0
            func isSaved(_ names: [String]) async throws -> Bool {
                counter += 1
                let request = try fixture.saving(names, text: "more", id: RequestID(device, counter), isAtomic: true)
                return !(await service.modify(request)).numbers.contains(nil)
            }
            #expect(try await !isSaved(["a", "b", "c", "d"]))
            #expect(try await isSaved(["a", "b"]))
            #expect(try await isSaved(["c", "d"]))
        }
    }

    @Test func `R-724: what a request gets does not depend on the others of its group`() throws {
        let fixture = try ServiceFixture()
        let script = FaultScript(always: [.commitSent: .delay(.milliseconds(5))])
        let outcomes = try fixture.scheduler.simulate {
            let service = try await server(of: fixture, faults: script.plan)
            var tasks: [Task<Result<RecordsOutcome, FailureReason>, Never>] = []
            for (index, name) in names.enumerated() {
                let request = try fixture.saving([name], text: "more", id: RequestID(device, UInt64(index) + 1))
                tasks.append(fixture.scheduler.run { await service.modify(request) })
                if index == 0 { try await fixture.scheduler.sleep(for: .milliseconds(1)) }
            }
            return await tasks.values()
        }
        #expect(outcomes.flatMap(\.numbers).compactMap(\.self).count == names.count, "all are saved")
        #expect(script.count(.commitSent) == 3, "the first alone, then two and two")
    }
}
