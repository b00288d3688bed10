// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkBytes
import TidemarkWire

/// The count that is appended to an encoded message.
@Suite struct PushCountTests {
    @Test(arguments: [0, 1, 127, 128, .max] as [UInt64])
    func `a count is appended to a message of either side, whose other fields stay`(count: UInt64) throws {
        var server = WireServerEnvelope()
        server.id = 9
        var message = server.encoded
        PushCount.append(sent: count, to: &message)
        server.pushesSent = count
        #expect(try WireServerEnvelope(reading: message) == server)

        var client = WireClientEnvelope()
        client.id = 9
        message = client.encoded
        PushCount.append(heard: count, to: &message)
        client.pushesHeard = count
        #expect(try WireClientEnvelope(reading: message) == client)
    }

    @Test func `only a message of moderate length gets one`() {
        #expect(PushCount.fits([]) && PushCount.fits([UInt8](repeating: 0, count: 65_536)))
        #expect(!PushCount.fits([UInt8](repeating: 0, count: 65_537)))
    }
}
