// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkService
import TidemarkTestKit
import TidemarkTestSupport

/// What the store is asked when people are looked up.
@Suite struct FetchShareParticipantsTests {
    @Test func `R-314, R-996: without the operator's leave the store is not asked about addresses at all`() throws {
        let script = FaultScript()
        let fixture = try ServiceFixture()
        let service = fixture.server(faults: script.plan)
        #expect(fixture.database.addAddress("bob@example.org", account: "alice"))
        try fixture.scheduler.simulate {
            let lookups = ["bob@example.org", "nobody@example.org"].map {
                PersonLookup.address(PersonAddress(email: $0))
            }
            var before = script.count(.callSent)
            let told = try await service.findPersons(lookups, in: ServiceFixture.container).get()
            #expect(told == [.success(true), .success(false)])
            #expect(script.count(.callSent) > before)
            before = script.count(.callSent)
            let untold = try await service.findPersons(lookups, in: ServiceFixture.container, tellsAccounts: false)
                .get()
            #expect(untold == [.success(false), .success(false)])
            #expect(script.count(.callSent) == before)
        }
    }
}
