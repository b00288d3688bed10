// SPDX-License-Identifier: Apache-2.0

import CTidemarkOpenSSL
import Testing
import TidemarkTestSupport

@testable import TidemarkTLS

@Suite struct TLSSessionTests {
    @Test(arguments: [(false, "TLSv1.3", "TLS_AES_128_GCM_SHA256"), (true, "TLSv1.2", "ECDHE-ECDSA-AES128-GCM-SHA256")])
    func `client and server agree, in one piece and byte by byte`(
        isTLS12: Bool, version: String, cipher: String
    ) throws {
        try withTemporaryDirectory { directory in
            let party = try TestParty(directory)
            let (clientContext, serverContext) = (try party.client(isTLS12: isTLS12), try party.server())
            for pieceBytes in [Int.max, 1, 7] {
                let pair = try Pair(clientContext, serverContext, host: "127.0.0.1")
                pair.pump(pieceBytes: pieceBytes)
                #expect(pair.isEstablished)
                for peer in [pair.client, pair.server] {
                    #expect(peer.error == nil)
                    #expect(peer.session.version == version)
                    #expect(peer.session.cipher == cipher)
                    #expect(peer.session.negotiatedProtocol == "http/1.1")
                }
                try pair.client.send(Array("question".utf8))
                try pair.server.send(Array("answer".utf8))
                pair.pump(pieceBytes: pieceBytes)
                #expect(pair.server.takeReceived() == Array("question".utf8))
                #expect(pair.client.takeReceived() == Array("answer".utf8))
            }
        }
    }

    @Test(arguments: [SSL_KEY_UPDATE_NOT_REQUESTED, SSL_KEY_UPDATE_REQUESTED])
    func `R-735: a peer that updates its keys again and again is cut off, and who does it now and then is not`(
        kind: Int32
    ) throws {
        try withTemporaryDirectory { directory in
            let party = try TestParty(directory)
            let pair = try Pair(party.client(), party.server())
            pair.pump()
            func update(_ count: Int) {
                for _ in 0..<count {
                    #expect(SSL_key_update(pair.client.session.ssl, kind) == 1)
                    #expect(SSL_do_handshake(pair.client.session.ssl) == 1)
                }
            }
            for _ in 0..<10 {
                update(1)
                try pair.client.send([1])
                pair.pump()
                try pair.server.send([2])
                pair.pump()
            }
            #expect(pair.server.takeReceived() == [UInt8](repeating: 1, count: 10))
            #expect(pair.client.takeReceived() == [UInt8](repeating: 2, count: 10))
            #expect(pair.server.error == nil && pair.client.error == nil)
            update(kind == SSL_KEY_UPDATE_REQUESTED ? 80 : 2_000)
            try pair.client.send([3])
            pair.pump()
            #expect(pair.server.error == TLSError(.recordInvalid, detail: "too many key updates"))
            #expect(pair.server.takeReceived().isEmpty)
        }
    }

    @Test(arguments: [false, true])
    func `a mebibyte passes both ways, in any pieces`(isTLS12: Bool) throws {
        try withTemporaryDirectory { directory in
            let party = try TestParty(directory)
            let clientContext = try party.client(isTLS12: isTLS12)
            let payload = (0..<1_048_576).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
            for pieceBytes in [Int.max, 65_536, 1_000, 16_406] {
                let pair = try Pair(clientContext, party.server())
                pair.pump()
                try pair.client.send(payload)
                try pair.server.send(payload)
                #expect(pair.client.session.outputCount > payload.count)
                pair.pump(pieceBytes: pieceBytes)
                #expect(pair.server.takeReceived() == payload)
                #expect(pair.client.takeReceived() == payload)
                #expect(pair.client.session.outputCount == 0)
            }
        }
    }

    @Test(arguments: [false, true])
    func `plaintext passes whole, wherever in a page it lies`(isTLS12: Bool) throws {
        try withTemporaryDirectory { directory in
            let party = try TestParty(directory)
            let clientContext = try party.client(isTLS12: isTLS12)
            let pair = try Pair(clientContext, party.server())
            pair.pump()
            let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 40_000, alignment: 4_096)
            defer { memory.deallocate() }
            for index in memory.indices { memory[index] = UInt8(truncatingIfNeeded: index &* 31 &+ index >> 8) }
            // So close that some lie so in their page that a short record comes first.
            for place in stride(from: 0, to: 4_096, by: 8) {
                let plaintext = UnsafeRawBufferPointer(rebasing: memory[place..<place + 35_000])
                try pair.client.session.send(plaintext)
                pair.pump()
                #expect(pair.server.takeReceived() == Array(plaintext), "\(place)")
            }
            #expect((0..<4_096).contains(pair.client.session.plaintextPlace))
        }
    }

    @Test func `many small messages in one piece all come out`() throws {
        try withTemporaryDirectory { directory in
            let party = try TestParty(directory)
            let pair = try Pair(party.client(), party.server())
            pair.pump()
            for number in 0..<1_000 { try pair.client.send([UInt8(truncatingIfNeeded: number)]) }
            try pair.client.send([])
            pair.pump()
            #expect(pair.server.received == (0..<1_000).map { UInt8(truncatingIfNeeded: $0) })
        }
    }

    @Test func `output that is not taken at once is kept, in order`() throws {
        try withTemporaryDirectory { directory in
            let party = try TestParty(directory)
            let pair = try Pair(party.client(), party.server())
            pair.pump()
            try pair.client.send(Array("first ".utf8))
            for _ in 0..<5 {
                var head: [UInt8] = []
                pair.client.session.withOutput { bytes in
                    head = Array(bytes.prefix(3))
                    return head.count
                }
                pair.server.feed(head)
            }
            try pair.client.send(Array("second".utf8))
            pair.pump()
            #expect(pair.server.received == Array("first second".utf8))
        }
    }

    @Test(arguments: [false, true])
    func `close_notify ends one direction, and a cut is not mistaken for it`(isTLS12: Bool) throws {
        try withTemporaryDirectory { directory in
            let party = try TestParty(directory)
            let clientContext = try party.client(isTLS12: isTLS12)
            let pair = try Pair(clientContext, party.server())
            pair.pump()
            try pair.client.send([1, 2, 3])
            pair.client.session.close()
            pair.client.session.close()
            #expect(!pair.server.session.receivedCloseNotify)
            pair.pump()
            #expect(pair.server.session.receivedCloseNotify)
            #expect(pair.server.error == nil)
            #expect(pair.server.received == [1, 2, 3])
            #expect(!pair.client.session.receivedCloseNotify)
            #expect(throws: TLSError(.sessionEnded)) { try pair.client.send([4]) }
            // The other direction goes on.
            try pair.server.send([5])
            pair.server.session.close()
            pair.pump()
            #expect(pair.client.received == [5])
            #expect(pair.client.session.receivedCloseNotify)
            // Whatever comes after the end is nobody's.
            pair.server.feed([0x17, 3, 3, 0, 1, 0])
            #expect(pair.server.received == [1, 2, 3])
        }
    }

    /// As libpq may leave one, which speaks TLS on the same thread.
    private func leaveErrorInThreadsQueue() {
        #expect(BIO_new_file("/nowhere/at/all", "r") == nil)
        #expect(ERR_peek_error() != 0)
    }

    @Test(arguments: [false, true])
    func `an error that others have left in the thread's queue is nobody's here`(isTLS12: Bool) throws {
        try withTemporaryDirectory { directory in
            let party = try TestParty(directory)
            let clientContext = try party.client(isTLS12: isTLS12)
            let pair = try Pair(clientContext, party.server())
            leaveErrorInThreadsQueue()
            pair.pump()
            #expect(pair.isEstablished)
            leaveErrorInThreadsQueue()
            try pair.client.send([1, 2, 3])
            let bytes = pair.client.takeOutput()
            for byte in bytes {
                leaveErrorInThreadsQueue()
                pair.server.feed([byte])
                #expect(pair.server.error == nil && !pair.server.session.receivedCloseNotify)
            }
            #expect(pair.server.received == [1, 2, 3])
            pair.client.session.close()
            leaveErrorInThreadsQueue()
            pair.server.feed(pair.client.takeOutput())
            #expect(pair.server.error == nil && pair.server.session.receivedCloseNotify)
            // What is an error of its own is told as such.
            leaveErrorInThreadsQueue()
            pair.client.feed([0x17, 3, 3, 0, 32] + [UInt8](repeating: 7, count: 32))
            #expect(pair.client.error?.code == .recordInvalid)
            ERR_clear_error()
        }
    }

    @Test func `plaintext may be answered while it is handed out`() throws {
        try withTemporaryDirectory { directory in
            let party = try TestParty(directory)
            let pair = try Pair(party.client(), party.server())
            pair.pump()
            for number in 0..<100 { try pair.client.send([UInt8(number)]) }
            let bytes = pair.client.takeOutput()
            let session = pair.server.session
            try bytes.withUnsafeBytes { raw in
                try session.receive(raw) { plaintext in
                    #expect(throws: Never.self) { try session.send(plaintext) }
                }
            }
            pair.pump()
            #expect(pair.client.received == Array(0..<100))
        }
    }

    @Test(arguments: [
        Array("GET / HTTP/1.1\r\nHost: a\r\n\r\n".utf8), [UInt8](repeating: 0, count: 64),
        [UInt8](repeating: 0xFF, count: 20_000), [0x16, 3, 1, 0xFF, 0xFF] + [UInt8](repeating: 1, count: 70_000),
        [0x15, 3, 3, 0, 2, 2, 40], [0x80, 0x2E, 1, 0, 2] + [UInt8](repeating: 0, count: 64), [0x17, 3, 3, 0, 1, 0],
    ])
    func `what is not TLS is refused`(bytes: [UInt8]) throws {
        try withTemporaryDirectory { directory in
            let server = try Peer(TestParty(directory).server(), .server)
            server.feed(bytes)
            let error = try #require(server.error)
            #expect([.handshakeFailed, .alertReceived].contains(error.code))
            server.session.close()
            #expect(throws: TLSError(.sessionEnded)) { try server.session.start() }
        }
    }

    @Test(arguments: [false, true])
    func `renegotiation is refused, whoever asks for it`(serverAsks: Bool) throws {
        try withTemporaryDirectory { directory in
            let party = try TestParty(directory)
            let clientContext = try party.client()
            clientContext.limitToTLS12()
            let pair = try Pair(clientContext, party.server())
            pair.pump()
            let (asking, asked) = serverAsks ? (pair.server, pair.client) : (pair.client, pair.server)
            #expect(BadTLS.renegotiate(asking.session.ssl))
            asked.feed(asking.takeOutput())
            // In TLS 1.2 the type of an encrypted record is seen: an alert (21), and not the next handshake (22).
            let answer = asked.takeOutput()
            #expect(answer.first == 21)
            asking.feed(answer)
            #expect(asking.error != nil)
        }
    }
}
