// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain

@Suite struct RequestRateChoicesTests {
    @Test func `R-963: a choice for a container or an account takes the place of the default, and both choices hold`()
        throws
    {
        let (standard, own, ofContainer) = (
            try #require(RequestRate(perSecond: 1)), try #require(RequestRate(perSecond: 2)),
            try #require(RequestRate(perSecond: 3))
        )
        // The choices for account and container; what holds of all requests, and of those in the container.
        let cases: [(RateChoice, RateChoice, RequestRate?, RequestRate?)] = [
            (.standard, .standard, standard, nil), (.standard, .unlimited, nil, nil),
            (.standard, .atMost(ofContainer), nil, ofContainer), (.unlimited, .standard, nil, nil),
            (.unlimited, .unlimited, nil, nil), (.unlimited, .atMost(ofContainer), nil, ofContainer),
            (.atMost(own), .standard, own, nil), (.atMost(own), .unlimited, own, nil),
            (.atMost(own), .atMost(ofContainer), own, ofContainer),
        ]
        for (account, container, all, inContainer) in cases {
            let limits = AccountLimits(requests: account, requestsInContainer: container)
            #expect(limits.rate(standard: standard) == all && limits.rateInContainer == inContainer, "\(limits)")
            // A server without a default adds nothing.
            #expect(limits.rate(standard: nil) == (account == .standard ? nil : all), "\(limits)")
        }
    }

    @Test func `R-990: the store's default takes the place of the server's, and is one for all other choices`() throws {
        let (server, store, own) = (
            try #require(RequestRate(perSecond: 1)), try #require(RequestRate(perSecond: 4)),
            try #require(RequestRate(perSecond: 2))
        )
        // The choices for all, an account and a container; what holds of all requests.
        let cases: [(RateChoice, RateChoice, RateChoice, RequestRate?)] = [
            (.atMost(store), .standard, .standard, store), (.unlimited, .standard, .standard, nil),
            (.standard, .standard, .standard, server), (.atMost(store), .atMost(own), .standard, own),
            (.atMost(store), .unlimited, .standard, nil), (.atMost(store), .standard, .atMost(own), nil),
            (.unlimited, .atMost(own), .atMost(own), own),
        ]
        for (each, account, container, all) in cases {
            let limits = AccountLimits(
                requests: account, requestsInContainer: container, requestsOfEach: each)
            #expect(limits.rate(standard: server) == all, "\(limits)")
        }
        // Also where servers have none.
        #expect(AccountLimits(requestsOfEach: .atMost(store)).rate(standard: nil) == store)
    }

    @Test func `R-935: connections are those of the account, else those of each account, else the server's`() {
        #expect(AccountLimits().connectionsMax(standard: 7) == 7)
        #expect(AccountLimits(connectionsOfEach: 3).connectionsMax(standard: 7) == 3)
        #expect(AccountLimits(connections: 9, connectionsOfEach: 3).connectionsMax(standard: 7) == 9)
        #expect(AccountLimits(connections: 1).connectionsMax(standard: 7) == 1)
    }
}
