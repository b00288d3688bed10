// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkScheduling
import TidemarkService
import TidemarkShares
import TidemarkTestKit

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
}
