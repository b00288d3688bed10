// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkScheduling
import TidemarkService
import TidemarkTestKit
import TidemarkTestSupport

@Suite struct FetchZonesTests {
    @Test func `R-022, R-029: zones are listed with the default zone, and found by name`() throws {
        let fixture = try ServiceFixture(zones: ["b", "a"])
        let service = fixture.server()
        try fixture.scheduler.simulate {
            let database = fixture.key().database
            let names = try await service.zonesPage(in: database, after: nil).get().zones.map(\.key.name)
            #expect(names == [ZoneName.default, "b", "a"])
            let found = try await service.zones([fixture.key("a"), fixture.key("none")]).get()
            #expect(found.map { result in result.map(\.key.name) } == [.success("a"), .failure(.zoneNotFound)])
        }
    }
}
