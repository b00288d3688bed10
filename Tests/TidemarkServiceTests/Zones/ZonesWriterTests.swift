// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import TidemarkDomain
import TidemarkFairness
import TidemarkScheduling
import TidemarkService
import TidemarkTestKit
import TidemarkTestSupport

/// The room for requests that create and delete zones.
@Suite struct ZonesWriterTests {
    private let device = DeviceID(high: 2, low: 2)

    private func creation(_ counter: UInt64) -> ZonesRequest {
        ZonesRequest(id: RequestID(device, counter), saves: ["new"], deletes: [])
    }

    @Test func `R-710, R-712: an account's zone requests take no more than its share, and others find room`() throws {
        let fixture = try ServiceFixture()
        let bobsHash = [UInt8](repeating: 8, count: 32)
        fixture.database.issueCredential(hash: bobsHash, account: "bob")
        var settings = WriteSettings()
        settings.requestsMax = 64
        let script = FaultScript(always: [.beginSent: .delay(.milliseconds(100))])
        let service = fixture.server(faults: script.plan, settings: settings)
        try fixture.scheduler.simulate {
            let bob = try #require(
                try await service.authenticate(
                    credentialHash: bobsHash, container: "iCloud.test", environment: .development,
                    createsContainer: false, device: device, deviceName: "test"
                ).get())
            let crowd = (1...70).map { counter in
                fixture.scheduler.run {
                    await service.modifyZones(in: fixture.key().database, creation(counter), for: .account(1)).reason
                }
            }
            // No time passes before all of them are queued or refused.
            try await fixture.scheduler.sleep(for: .milliseconds(1))
            let bobs = await service.modifyZones(in: bob.privateDatabase, creation(1), for: .account(2))
            #expect(bobs.reason == nil)
            var reasons: [FailureReason?] = []
            for task in crowd { reasons.append(await task.value) }
            // A quarter of the room.
            #expect(reasons.count { $0 == nil } == 16)
            #expect(reasons.count { $0 == .tooManyRequests } == 54)
            // What they took is free again.
            let later = await service.modifyZones(in: fixture.key().database, creation(71), for: .account(1))
            #expect(later.reason == nil)
            await service.stop()
        }
    }

    @Test func `R-753: zones that end again and again are forgotten by those who end them`() throws {
        let fixture = try ServiceFixture()
        var limits = Limits()
        limits.endedZonesMax = 8
        let moved = Mutex<[Int64?]>([])
        let database = fixture.key().database
        let service = fixture.server(limits: limits) { zones in moved.withLock { $0.append(zones.growth[database]) } }
        try fixture.scheduler.simulate {
            var ended = 0
            for counter in 1...40 as ClosedRange<UInt64> {
                let isCreation = !counter.isMultiple(of: 2)
                let request = ZonesRequest(
                    id: RequestID(device, counter), saves: isCreation ? ["new"] : [], deletes: isCreation ? [] : ["new"]
                )
                let outcome = try await service.modifyZones(in: database, request, for: .account(1)).get()
                #expect(outcome.saves + outcome.deletes == [.done])
                let transaction = try await MemoryStore(fixture.database).beginZonesWrite(
                    in: database, names: [], life: device)
                await transaction.rollback()
                ended = max(ended, transaction.snapshot.endedCount)
            }
            #expect(ended == 5)
            // A push too many is better than a change that hides behind what was forgotten.
            #expect(moved.withLock { $0.contains(nil) && $0.contains(1) && $0.count == 40 })
            await service.stop()
        }
    }
}
