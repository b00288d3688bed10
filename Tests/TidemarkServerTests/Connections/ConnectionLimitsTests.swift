// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkTransport

@testable import TidemarkServer

/// What operators see of a server's connections.
@Suite struct ConnectionLimitsTests {
    @Test func `R-721, R-869: an account has an eighth of the connections, at least 64, or what an option says`() {
        var configuration = ServerConfiguration(addresses: [], certificate: nil, databaseURL: "", limits: Limits())
        for (connections, expected) in [(20_000, 2_500), (1_000, 125), (512, 64), (100, 64)] {
            configuration.transport.connectionsMax = connections
            #expect(configuration.connectionLimits(isPlain: false).connectionsPerAccountMax == expected)
        }
        configuration.connectionsPerAccountMax = 3
        #expect(configuration.connectionLimits(isPlain: false).connectionsPerAccountMax == 3)
    }

    @Test func `R-869: the places that a server has decided are those that are shown`() {
        var configuration = ServerConfiguration(addresses: [], certificate: nil, databaseURL: "", limits: Limits())
        configuration.transport.connectionsMax = 1_000
        let places = configuration.placeLimits(of: 100, isPlain: false)
        configuration.transport.places = places
        let shown = configuration.connectionLimits(isPlain: false)
        #expect(shown.anonymousConnectionsMax == places.anonymousMax && shown.newcomersMax == places.newcomersMax)
        #expect(shown.newcomersPerAddressMax == places.newcomersPerAddressMax)
        #expect(shown.helloSeconds == 10 && shown.anonymousIdleSeconds == 120)
    }
}
