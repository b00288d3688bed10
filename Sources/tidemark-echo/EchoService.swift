// SPDX-License-Identifier: Apache-2.0

internal import TidemarkHTTP
internal import TidemarkSockets
internal import TidemarkTransport
internal import TidemarkWebSocket

/// The handlers for each path.
struct EchoService: Sendable {
    /// Suites send messages of 16 MiB, which are held for a while to be echoed.
    static let limits: TransportLimits = {
        var limits = TransportLimits()
        limits.message.frameBytesMax = 64 * 1024 * 1024
        limits.message.messageBytesMax = 64 * 1024 * 1024
        limits.queuedBytesMax = 256 * 1024 * 1024
        return limits
    }()

    private let hub: Hub

    init(loops: [EventLoop]) {
        hub = Hub(loops: loops)
    }

    func decide(_ head: RequestHead) -> AcceptDecision {
        switch head.path {
        case "/", "/echo": .webSocket(.init(deflate: DeflateSettings()), EchoHandler())
        case "/sub": .webSocket(.init(), SubscriberHandler(hub: hub))
        case "/pub": .webSocket(.init(), PublisherHandler(hub: hub))
        case "/healthz": .response(.answer(head, found: .text(.ok, "ok")))
        default: .response(.answer(head, found: nil))
        }
    }
}
