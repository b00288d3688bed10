// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkServer
import TidemarkSockets
import TidemarkTransport
import TidemarkWebSocket

/// What a server has that nobody has set.
@Suite struct ServerConfigurationTests {
    @Test(arguments: [(0, 1), (1, 1), (2, 1), (3, 1), (4, 2), (5, 2), (64, 32)])
    func `R-781: long queries take half of the processors, and one at least`(processors: Int, longQueries: Int) {
        #expect(ServerConfiguration.longQueriesDefault(processors: processors) == longQueries)
    }

    @Test func `R-945: without TLS a server knows the addresses of clients if proxies say them, and otherwise not`()
        throws
    {
        var configuration = ServerConfiguration(addresses: [], certificate: nil, databaseURL: "", limits: Limits())
        #expect(!configuration.knowsAddresses)
        configuration.proxies = [try #require(AddressNetwork(parsing: "127.0.0.1"))]
        #expect(configuration.knowsAddresses)
        configuration.proxies = []
        configuration.certificate = .init(certificateFile: "a.pem", privateKeyFile: "b.pem")
        #expect(configuration.knowsAddresses)
    }

    @Test func `a message has room for the largest request, and connections for several answers`() {
        let configuration = ServerConfiguration(addresses: [], certificate: nil, databaseURL: "", limits: Limits())
        #expect(configuration.longQueriesMax >= 1 && configuration.loopCount >= 1)
        #expect(configuration.transport.message.messageBytesMax >= 2 * Limits().requestBytesMax)
        #expect(configuration.transport.queuedBytesMax >= 4 * Limits().answerBytesMax)
    }
}
