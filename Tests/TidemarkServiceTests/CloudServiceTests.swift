// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkScheduling
import TidemarkService
import TidemarkTestKit
import TidemarkTestSupport

@Suite struct CloudServiceTests {
    private let device = DeviceID(high: 2, low: 2)

    @Test func `I-4: servers tell each other, and a hint may be lost`() throws {
        let fixture = try ServiceFixture()
        let heard = Log<ServerNotice>()
        let listener = fixture.database.listen { notices in for notice in notices { heard.append(notice) } }
        let notice = ServerNotice.zone(ZoneNotice(database: fixture.key().database, life: device, zoneName: "notes"))
        let service = fixture.server(faults: FaultScript(first: [.notice: [.none, .disconnect]]).plan)
        try fixture.scheduler.simulate {
            for _ in 0..<3 {
                #expect(await service.post([notice]).reason == nil)
                try await fixture.scheduler.sleep(for: .seconds(1))
            }
            fixture.database.stopListening(listener)
            _ = await service.post([notice])
            try await fixture.scheduler.sleep(for: .seconds(1))
        }
        #expect(heard.all == [notice, notice])
    }
}
