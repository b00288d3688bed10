// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import TidemarkTLS

/// I-6: bad bytes cost the sender its session, and nothing else.
@Suite struct TLSSessionCorruptionTests {
    /// What passes between the two, in this order.
    enum Flight: Int, CaseIterable {
        case hello, serverAnswer, clientAnswer, serverEnd, question, answer

        var isFromClient: Bool { rawValue.isMultiple(of: 2) }
    }

    /// Brings a new pair to the point at which the flight is under way.
    ///
    /// - Returns: Its bytes, and who waits for them.
    private func begin(_ flight: Flight, of pair: Pair) throws -> (bytes: [UInt8], receiver: Peer) {
        for earlier in Flight.allCases.prefix(flight.rawValue) {
            let (bytes, receiver) = try take(earlier, from: pair)
            receiver.feed(bytes)
        }
        return try take(flight, from: pair)
    }

    private func take(_ flight: Flight, from pair: Pair) throws -> (bytes: [UInt8], receiver: Peer) {
        let (sender, receiver) = flight.isFromClient ? (pair.client, pair.server) : (pair.server, pair.client)
        if flight == .question || flight == .answer { try sender.send(Array("message".utf8)) }
        return (sender.takeOutput(), receiver)
    }

    /// Each handshake has other bytes, and not always as many, so each position has a handshake of its own.
    ///
    /// - Parameter tamper: gets the pair, the flight's bytes, who waits for them, and the position.
    private func forEachPosition(
        in flight: Flight, _ isTLS12: Bool, _ tamper: (Pair, [UInt8], Peer, Int) throws -> Void
    ) throws {
        try withTemporaryDirectory { directory in
            let party = try TestParty(directory)
            let (clientContext, serverContext) = (try party.client(), try party.server())
            var position = 0
            while true {
                // It forgets the last session: to resume that would be a shorter handshake.
                try clientContext.reload()
                if isTLS12 { clientContext.limitToTLS12() }
                let pair = try Pair(clientContext, serverContext)
                let (bytes, receiver) = try begin(flight, of: pair)
                guard position < bytes.count else { break }
                try tamper(pair, bytes, receiver, position)
                position += 1
            }
            let atLeast: [Flight: Int] = [.hello: 100, .serverAnswer: 400]
            #expect(position > atLeast[flight] ?? 20)
        }
    }

    @Test(arguments: [false, true], Flight.allCases)
    func `a flight that is cut anywhere gives no session and no byte`(isTLS12: Bool, flight: Flight) throws {
        try forEachPosition(in: flight, isTLS12) { pair, bytes, receiver, position in
            let wasEstablished = receiver.session.isEstablished
            receiver.feed(Array(bytes[..<position]))
            #expect(receiver.error == nil, "position \(position)")
            #expect(receiver.session.isEstablished == wasEstablished, "position \(position)")
            #expect(wasEstablished == (flight == .question || flight == .answer || flight == .serverEnd && !isTLS12))
            #expect(receiver.received.isEmpty && !receiver.session.receivedCloseNotify)
            // Nobody has taken harm: the rest makes it whole.
            receiver.feed(Array(bytes[position...]))
            pair.pump()
            #expect(pair.isEstablished && receiver.error == nil)
        }
    }

    @Test(arguments: [false, true], Flight.allCases)
    func `a flight that is corrupted anywhere gives no session and no byte`(isTLS12: Bool, flight: Flight) throws {
        try forEachPosition(in: flight, isTLS12) { pair, bytes, receiver, position in
            let (wasEstablished, wereEstablished) = (receiver.session.isEstablished, pair.isEstablished)
            var corrupted = bytes
            corrupted[position] ^= [0x01, 0x41, 0x80, 0xFF][position % 4]
            receiver.feed(corrupted)
            pair.pump()
            // RFC 8446 §5.1: the version in a record's header "MUST be ignored for all purposes".
            let isIgnored = position == 2 && (flight == .hello || flight == .serverAnswer)
            #expect(receiver.session.isEstablished == (wasEstablished || isIgnored), "position \(position)")
            #expect(pair.isEstablished == (wereEstablished || isIgnored), "position \(position)")
            #expect(receiver.received.isEmpty, "position \(position)")
        }
    }

    @Test(arguments: [false, true])
    func `a record that is corrupted anywhere ends the session and is never handed out`(isTLS12: Bool) throws {
        try withTemporaryDirectory { directory in
            let party = try TestParty(directory)
            let (clientContext, serverContext) = (try party.client(isTLS12: isTLS12), try party.server())
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
