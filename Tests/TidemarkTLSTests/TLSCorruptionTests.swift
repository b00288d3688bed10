// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import TidemarkTLS

/// I-6: bad bytes cost the sender its session, and nothing else.
@Suite struct TLSCorruptionTests {
    @Test(arguments: [false, true])
    func `a hello that is cut or corrupted anywhere never gives a session`(isTLS12: Bool) throws {
        try withTemporaryDirectory { directory in
            let party = try TestParty(directory)
            let (clientContext, serverContext) = (try party.client(), try party.server())
            if isTLS12 { clientContext.limitToTLS12() }
            let hello = try Pair(clientContext, serverContext).client.takeOutput()
            #expect(hello.count > 100)
            for position in 0..<hello.count {
                let cut = try Peer(serverContext, .server)
                cut.feed(Array(hello[..<position]))
                #expect(cut.error == nil)
                #expect(!cut.session.isEstablished)
                for mask: UInt8 in [0x01, 0x80, 0xFF] {
                    var corrupted = hello
                    corrupted[position] ^= mask
                    let server = try Peer(serverContext, .server)
                    server.feed(corrupted)
                    #expect(!server.session.isEstablished)
                }
            }
        }
    }

    @Test(arguments: [false, true])
    func `a server's answer that is corrupted anywhere never gives a session`(isTLS12: Bool) throws {
        try withTemporaryDirectory { directory in
            let party = try TestParty(directory)
            let (clientContext, serverContext) = (try party.client(), try party.server())
            if isTLS12 { clientContext.limitToTLS12() }
            var position = 0
            // Each handshake has other bytes, so each position has a handshake of its own.
            while position < 2_000 {
                let pair = try Pair(clientContext, serverContext)
                pair.server.feed(pair.client.takeOutput())
                var answer = pair.server.takeOutput()
                guard position < answer.count else { break }
                answer[position] ^= 0x41
                pair.client.feed(answer)
                pair.pump()
                // RFC 8446 §5.1: the version in a record's header "MUST be ignored for all purposes".
                #expect(pair.isEstablished == (position == 2), "position \(position)")
                #expect(pair.client.received.isEmpty)
                #expect(pair.server.received.isEmpty)
                position += position < 100 ? 1 : 7
            }
            #expect(position > 400)
        }
    }

    @Test(arguments: [false, true])
    func `a record that is corrupted anywhere ends the session and is never handed out`(isTLS12: Bool) throws {
        try withTemporaryDirectory { directory in
            let party = try TestParty(directory)
            let (clientContext, serverContext) = (try party.client(), try party.server())
            if isTLS12 { clientContext.limitToTLS12() }
            var position = 0
            while true {
                let pair = try Pair(clientContext, serverContext)
                pair.pump()
                try pair.client.send(Array("before".utf8))
                pair.server.feed(pair.client.takeOutput())
                try pair.client.send(Array("message".utf8))
                var record = pair.client.takeOutput()
                guard position < record.count else { break }
                record[position] ^= 0x21
                // Something after it, for a length that now says more than there is.
                pair.server.feed(record + [UInt8](repeating: 0x17, count: 20_000))
                #expect(pair.server.error?.code == .recordInvalid, "position \(position)")
                #expect(pair.server.received == Array("before".utf8))
                // The alert says why, and the session stays ended.
                #expect(pair.server.session.outputCount > 0)
                #expect(throws: TLSError(.sessionEnded)) { try pair.server.send([1]) }
                pair.client.feed(pair.server.takeOutput())
                #expect(pair.client.error?.code == .alertReceived)
                position += 1
            }
            #expect(position > 20)
        }
    }
}
