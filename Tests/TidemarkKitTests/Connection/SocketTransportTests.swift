// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import Testing

@testable import TidemarkKit

/// To which servers a credential may go in clear: to none but those on this machine.
@Suite struct SocketTransportTests {
    @Test(arguments: [
        ("127.0.0.1", true), ("127.255.255.254", true), ("::1", true), ("::ffff:127.0.0.1", true),
        ("localhost", true), ("LocalHost", true),
        ("127.evil.example", false), ("127.0.0.1.evil.example", false), ("127.1", false), ("0x7f.0.0.1", false),
        ("128.0.0.1", false), ("::ffff:10.0.0.1", false), ("::2", false), ("::", false), ("0.0.0.0", false),
        ("localhost.evil.example", false), ("notlocalhost", false), ("", false), ("127.0.0.1\u{0}.evil.example", false),
    ])
    func `R-740: an address is loopback as a number, and a name only as localhost`(host: String, expected: Bool) {
        #expect(SocketTransport.isLoopback(host) == expected)
    }

    @Test(arguments: [
        "ws://127.evil.example:8443", "ws://127.0.0.1.evil.example", "ws://[::2]:80", "ws://sync.example.org",
        "ws://127.0.0.1@evil.example", "WS://sync.example.org", "http://127.0.0.1",
    ])
    func `R-740: ws beyond loopback is refused before anything is sent`(text: String) async throws {
        let url = try #require(URL(string: text))
        let transport = SocketTransport(
            configuration: TidemarkConfiguration(url: url, token: "tm_secret"))
        let (endings, continuation) = AsyncStream<ChannelClosing>.makeStream()
        let listener = Listener { continuation.yield($0) }
        let channel = transport.open(observer: listener)
        var iterator = endings.makeAsyncIterator()
        guard case .untrusted(let said)? = await iterator.next() else {
            Issue.record("it was not refused")
            return
        }
        #expect(said.contains("wss://") && !said.contains("tm_secret"), "\(said)")
        #expect(!listener.hasOpened)
        channel.close()
    }
}

private final class Listener: CloudChannelObserver {
    private let report: @Sendable (ChannelClosing) -> Void
    private let opened = Mutex(false)

    init(_ report: @escaping @Sendable (ChannelClosing) -> Void) { self.report = report }

    var hasOpened: Bool { opened.withLock { $0 } }

    func channelOpened(_ channel: any CloudChannel) { opened.withLock { $0 = true } }
    func channelReceived(_ channel: any CloudChannel, _ message: [UInt8]) {}
    func channelProgressed(_ channel: any CloudChannel) {}
    func channelClosed(_ channel: any CloudChannel, _ reason: ChannelClosing) { report(reason) }
}
