// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain

@testable import TidemarkSessions

@Suite struct RefusalAllowanceTests {
    @Test func `R-860: of one address so many refused sign-ins of a minute are written, and then no more`() {
        var allowance = RefusalAllowance()
        let taken = (0..<10).map { _ in allowance.take("10.0.0.1", now: .seconds(5)) }
        #expect(taken.filter { $0 }.count == RefusalAllowance.countOfAddressMax)
        let other = allowance.take("10.0.0.2", now: .seconds(5))
        let late = allowance.take("10.0.0.1", now: .seconds(59))
        let next = allowance.take("10.0.0.1", now: .seconds(60))
        #expect(other && !late && next)
    }

    @Test func `R-860: the loops of a server share one allowance`() {
        let one = SessionSettings(serverName: "", limits: Limits(), credentialHash: { $0 })
        let other = one
        let taken = (0..<RefusalAllowance.countMax).map { one.refusals.take("10.0.1.\($0)", now: .seconds(1)) }
        #expect(taken.allSatisfy { $0 })
        #expect(!other.refusals.take("10.0.2.1", now: .seconds(1)))
    }

    @Test func `R-860: of all addresses together there are so many in a minute`() {
        var allowance = RefusalAllowance()
        let taken = (0..<1_000).map { allowance.take("10.0.\($0)", now: .seconds(1)) }
        #expect(taken.filter { $0 }.count == RefusalAllowance.countMax)
        let next = allowance.take("10.0.0.9", now: .seconds(100))
        #expect(next)
    }
}
