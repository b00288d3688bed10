// SPDX-License-Identifier: Apache-2.0

internal import Testing
internal import TidemarkHTTP
internal import TidemarkSockets
internal import TidemarkTestSupport
internal import TidemarkTransport

@Suite(.timeLimit(.minutes(10))) struct HTTPServerTests {
    private func get(_ path: String, _ fields: String = "") -> String { HTTPScene.get(path, fields) }

    /// Whether so many answers with that text have come.
    private func has(_ count: Int, _ text: String) -> @Sendable ([UInt8]) -> Bool {
        { String(decoding: $0, as: UTF8.self).split(separator: text, omittingEmptySubsequences: false).count > count }
    }

    private func answers(_ text: String) -> [Substring] { text.split(separator: "HTTP/1.1 ") }

    @Test(arguments: Wire.allCases)
    func `R-800: a connection is kept, and its requests are answered one after another`(_ wire: Wire) async throws {
        try await HTTPScene.run(wire) { scene in
            let peer = try await scene.peer()
            for count in 1...3 {
                await peer.send(Array(get("/hello").utf8))
                await peer.receive(until: has(count, "\r\n\r\nhello\n"))
            }
            await peer.send(Array(get("/hello", "Connection: close\r\n").utf8))
            let text = await peer.receiveAllText()
            #expect(answers(text).count == 4)
            #expect(text.contains("\r\nDate: "))
            #expect(text.split(separator: "Connection: close\r\n").count == 2)
            #expect(text.contains("Strict-Transport-Security") == (wire == .tls))
        }
    }

    @Test(arguments: Wire.allCases)
    func `R-800: requests that come together are answered in their order, and a later one does not begin early`(
        _ wire: Wire
    ) async throws {
        try await HTTPScene.run(wire) { scene in
            let text = get("/wait") + get("/hello") + get("/forbidden") + get("/none", "Connection: close\r\n")
            let peer = try await scene.peer(sending: text)
            var events = scene.handler.events.makeAsyncIterator()
            #expect(await events.next() == "/wait")
            for _ in 0..<5 { await scene.serverLoop.pass() }
            #expect(scene.handler.begunPaths == ["/wait"])
            scene.handler.letOneGo()
            let all = answers(await peer.receiveAllText())
            #expect(all.map { String($0.prefix(3)) } == ["200", "200", "403", "404"])
            #expect(all.first?.hasSuffix("waited\n") == true)
            #expect(await events.next() == "/hello")
            #expect(await events.next() == "/none")
        }
    }

    @Test(arguments: Wire.allCases)
    func `R-802: a body arrives by its length, in chunks, and after leave`(_ wire: Wire) async throws {
        try await HTTPScene.run(wire) { scene in
            let long = String(repeating: "0123456789", count: 9_000)
            let peer = try await scene.peer(
                sending: HTTPScene.post("/echo", "Content-Length: \(long.utf8.count)", long)
                    + HTTPScene.post("/echo", "Transfer-Encoding: chunked", "3\r\nabc\r\n2;x\r\nde\r\n0\r\n\r\n")
                    + HTTPScene.post("/echo", "Expect: 100-continue\r\nConnection: close\r\nContent-Length: 2", ""))
            await peer.receive(until: has(1, "100 Continue\r\n\r\n"))
            await peer.send(Array("yz".utf8))
            let all = answers(await peer.receiveAllText())
            #expect(all.map { String($0.prefix(3)) } == ["200", "200", "100", "200"])
            #expect(all.first?.hasSuffix("\r\n\r\n" + long) == true)
            #expect(all.dropFirst().first?.hasSuffix("\r\n\r\nabcde") == true)
            #expect(all.last?.hasSuffix("\r\n\r\nyz") == true)
        }
    }

    @Test(arguments: Wire.allCases)
    func `R-802: who sends a body that is not taken hears why, and is not served again`(_ wire: Wire) async throws {
        try await HTTPScene.run(wire) { scene in
            let body = String(repeating: "a", count: SceneHandler.bodyBytesMax + 1)
            let length = "Content-Length: \(body.utf8.count)"
            for (request, status) in [
                (HTTPScene.post("/echo", length, body), "413"), (HTTPScene.post("/forbidden", length, body), "403"),
                (HTTPScene.post("/echo", "Transfer-Encoding: chunked", "186A1\r\n\(body)\r\n0\r\n\r\n"), "413"),
                (HTTPScene.post("/echo", "Transfer-Encoding: chunked", "zz\r\n"), "400"),
            ] {
                let peer = try await scene.peer(sending: request + get("/hello"))
                let text = await peer.receiveAllText()
                #expect(text.hasPrefix("HTTP/1.1 \(status) ") && answers(text).count == 1, "\(text.prefix(300))")
            }
            try await scene.expectService()
        }
    }

    @Test(arguments: Wire.allCases)
    func `R-803: a stream waits for a slow reader, who gets all of it`(_ wire: Wire) async throws {
        try await HTTPScene.run(wire) { scene in
            let peer = try await scene.peer()
            await peer.pauseReading(after: 1)
            await peer.send(Array(get("/stream", "Connection: close\r\n").utf8))
            await peer.receive { !$0.isEmpty }
            // Far more turns than the whole stream would take if nobody waited.
            for _ in 0..<100 { await scene.serverLoop.pass() }
            #expect(scene.handler.writtenCount < SceneHandler.pieceCount)
            await peer.resumeReading()
            let received = await peer.receiveAll()
            #expect(scene.handler.writtenCount == SceneHandler.pieceCount)
            let head = answers(String(decoding: received.prefix(1_000), as: UTF8.self))[0].split(separator: "\r\n\r\n")[
                0]
            // Of each piece its size, its content and the line break after it.
            let pieceBytes = "100000\r\n".utf8.count + SceneHandler.pieceBytes + 2
            let headBytes = "HTTP/1.1 ".utf8.count + head.utf8.count + 4
            #expect(received.count == headBytes + SceneHandler.pieceCount * pieceBytes + "0\r\n\r\n".utf8.count)
            #expect(received.suffix(5).elementsEqual("0\r\n\r\n".utf8))
        }
    }

    @Test(arguments: Wire.allCases)
    func `R-803: a stream ends when its client is gone, or reads nothing`(_ wire: Wire) async throws {
        var limits = HTTPLimits.patient
        limits.writeProgressDeadline = .milliseconds(300)
        try await HTTPScene.run(wire, limits: limits) { scene in
            var events = scene.handler.events.makeAsyncIterator()
            for isReset in [true, false] {
                let peer = try await scene.peer()
                await peer.pauseReading(after: 1)
                await peer.send(Array(get("/endless").utf8))
                #expect(await events.next() == "/endless")
                await peer.receive { !$0.isEmpty }
                if isReset { await peer.reset() }
                #expect(await events.next() == "cut")
                await peer.close()
            }
            try await scene.expectService()
        }
    }

    @Test(arguments: Wire.allCases)
    func `R-803: an answer that breaks off is never taken for a whole one`(_ wire: Wire) async throws {
        try await HTTPScene.run(wire) { scene in
            let peer = try await scene.peer(sending: get("/short") + get("/hello"))
            let text = await peer.receiveAllText()
            #expect(!text.contains("hello"))
            #expect(await !peer.hasHeardCloseNotify())
            try await scene.expectService()
        }
    }

    @Test(arguments: Wire.allCases)
    func `RFC 9110 9_3_2: a HEAD has the fields of a GET and no body, streamed or not`(_ wire: Wire) async throws {
        try await HTTPScene.run(wire) { scene in
            let heads = ["/hello", "/stream", "/none"].map { "HEAD \($0) HTTP/1.1\r\nHost: h\r\n\r\n" }.joined()
            let peer = try await scene.peer(sending: heads + get("/hello", "Connection: close\r\n"))
            let all = answers(await peer.receiveAllText())
            #expect(all.map { String($0.prefix(3)) } == ["200", "200", "404", "200"])
            #expect(all.first?.contains("Content-Length: 6\r\n") == true && all.first?.hasSuffix("\r\n\r\n") == true)
            #expect(all.last?.hasSuffix("hello\n") == true)
            #expect(scene.handler.writtenCount == 0)
        }
    }

    @Test(arguments: Wire.allCases)
    func `R-804: a head, a body and a silence have their time`(_ wire: Wire) async throws {
        var limits = HTTPLimits.patient
        limits.headDeadline = .seconds(1)
        limits.bodyDeadline = .milliseconds(300)
        limits.idleDeadline = .milliseconds(300)
        try await HTTPScene.run(wire, limits: limits) { scene in
            for begun in ["", "GET / HTTP/1.1\r\nHost", HTTPScene.post("/echo", "Content-Length: 2", "a")] {
                let peer = try await scene.peer(sending: begun)
                let text = await peer.receiveAllText()
                #expect(text.hasPrefix("HTTP/1.1 408 ") && text.contains("Connection: close"), "\(begun): \(text)")
            }
            // Between requests nobody is told.
            let peer = try await scene.peer(sending: get("/hello"))
            #expect(answers(await peer.receiveAllText()).count == 1)
        }
    }

    @Test func `R-804: a TLS handshake has its time`() async throws {
        var limits = HTTPLimits.patient
        limits.handshakeDeadline = .milliseconds(300)
        try await HTTPScene.run(.tls, limits: limits) { scene in
            let peer = try await scene.peer(isEncrypted: false)
            #expect(await peer.receiveAll().isEmpty)
        }
    }

    @Test(arguments: Wire.allCases)
    func `I-6: a connection that is cut at any byte harms nobody`(_ wire: Wire) async throws {
        try await HTTPScene.run(wire) { scene in
            let text =
                HTTPScene.post("/echo", "Transfer-Encoding: chunked", "3\r\nabc\r\n0\r\n\r\n")
                + get("/hello", "Connection: close\r\n")
            // TLS says some 700 bytes before the first request.
            let byteCount = text.utf8.count + (wire == .tls ? 700 : 0)
            for position in stride(from: 0, through: byteCount, by: wire == .tls ? 7 : 1) {
                let peer = try await scene.peer(.cut(position), sending: text)
                let all = answers(await peer.receiveAllText())
                #expect(all.allSatisfy { $0.hasPrefix("200 ") } && all.count <= 2, "cut at \(position)")
                if wire == .plain { #expect((all.count == 2) == (position == byteCount), "cut at \(position)") }
                await peer.close()
            }
            try await scene.expectService()
        }
    }

    @Test(arguments: Wire.allCases)
    func `a client that ends its half after its requests is answered`(_ wire: Wire) async throws {
        try await HTTPScene.run(wire) { scene in
            let peer = try await scene.peer(sending: get("/wait") + get("/hello"))
            await peer.shutDown()
            var events = scene.handler.events.makeAsyncIterator()
            #expect(await events.next() == "/wait")
            scene.handler.letOneGo()
            // A client of TLS that has said that it ends hears nothing after it.
            if wire == .plain { #expect(answers(await peer.receiveAllText()).count == 2) }
            #expect(await events.next() == "/hello")
        }
    }

    /// A client whose request is under way: the server waits for its body.
    private func busyPeer(_ scene: HTTPScene) async throws -> RawPeer {
        let head = HTTPScene.post("/echo", "Expect: 100-continue\r\nConnection: close\r\nContent-Length: 4", "")
        let peer = try await scene.peer(sending: head)
        await peer.receive(until: has(1, "100 Continue\r\n\r\n"))
        return peer
    }

    private func expectAnswer(to peer: RawPeer) async {
        await peer.send(Array("busy".utf8))
        #expect(await peer.receiveAllText().hasSuffix("\r\n\r\nbusy"))
    }

    @Test func `I-7: a server has so many connections`() async throws {
        var limits = HTTPLimits.patient
        limits.connectionsMax = 2
        try await HTTPScene.run(.plain, limits: limits) { scene in
            // Nobody whose request is under way gives way.
            let peers = [try await busyPeer(scene), try await busyPeer(scene)]
            let third = try await scene.peer(sending: get("/hello"))
            #expect(await third.receiveAll().isEmpty)
            for peer in peers { await expectAnswer(to: peer) }
        }
    }

    @Test(arguments: Wire.allCases)
    func `R-804: in a full server the connection gives way that has waited longest for a request`(
        _ wire: Wire
    ) async throws {
        var limits = HTTPLimits.patient
        limits.connectionsMax = 3
        try await HTTPScene.run(wire, limits: limits) { scene in
            // The first of them says nothing, and the others were answered.
            let silent = try await scene.peer(isEncrypted: false)
            var idle: [RawPeer] = []
            for _ in 0..<2 {
                let peer = try await scene.peer(sending: get("/hello"))
                await peer.receive(until: has(1, "hello\n"))
                idle.append(peer)
            }
            var busy: [RawPeer] = []
            for gone in idle {
                busy.append(try await busyPeer(scene))
                #expect(answers(await gone.receiveAllText()).count == 1, "it ends, and nothing more comes")
            }
            // Now only the silent one can give way.
            try await scene.expectService()
            #expect(await silent.receiveAll().isEmpty)
            for peer in busy { await expectAnswer(to: peer) }
        }
    }

    @Test(arguments: Wire.allCases)
    func `R-800: a server that stops completes the answer under way, and ends who waits`(_ wire: Wire) async throws {
        var limits = HTTPLimits.patient
        limits.closeDeadline = .seconds(60)
        try await HTTPScene.run(wire, limits: limits) { scene in
            let idle = try await scene.peer(sending: get("/hello"))
            await idle.receive(until: has(1, "hello\n"))
            let asking = try await scene.peer(sending: get("/wait") + get("/hello"))
            var events = scene.handler.events.makeAsyncIterator()
            while await events.next() != "/wait" {}
            async let stopped: Void = scene.server.stop()
            await idle.receiveAll()
            scene.handler.letOneGo()
            #expect(answers(await asking.receiveAllText()).count == 1)
            await idle.close()
            await asking.close()
            await stopped
        }
    }

    @Test func `I-7: a server that stops does not wait for an answer without end`() async throws {
        try await HTTPScene.run(.plain) { scene in
            let peer = try await scene.peer(sending: get("/wait"))
            var events = scene.handler.events.makeAsyncIterator()
            #expect(await events.next() == "/wait")
            await scene.server.stop()
            #expect(await peer.receiveAll().isEmpty)
            scene.handler.letOneGo()
        }
    }
}
