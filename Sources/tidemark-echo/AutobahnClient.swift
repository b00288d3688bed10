// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import TidemarkSockets
internal import TidemarkTransport
internal import TidemarkWebSocket

/// The client in Autobahn's suite: asks for the number of cases, echoes in each, and asks for the report.
struct AutobahnClient {
    private let host: String
    private let port: UInt16
    private let agent: String

    init(url: String, agent: String) throws {
        guard url.hasPrefix("ws://") else { throw ValidationError("The URL is ws://HOST:PORT.") }
        (host, port) = try SocketAddress.split(String(url.dropFirst(5)))
        self.agent = agent
    }

    func run() async throws {
        let loop = try EventLoop(name: "client")
        let count = await caseCount(loop)
        for number in 0..<count {
            await connect(loop, path: "/runCase?case=\(number + 1)&agent=\(agent)") { EchoHandler(onClose: $0) }
        }
        // The suite records a case when its connection is gone. After another round trip, that holds for the last one
        // too.
        _ = await caseCount(loop)
        await connect(loop, path: "/updateReports?agent=\(agent)") { EchoHandler(onClose: $0) }
        print("\(count) cases")
        loop.stop()
    }

    private func caseCount(_ loop: EventLoop) async -> Int {
        let answer = Answer()
        await connect(loop, path: "/getCaseCount") {
            answer.onClose = $0
            return answer
        }
        return Int(answer.text) ?? 0
    }

    /// Returns when the connection has ended.
    private func connect(
        _ loop: EventLoop, path: String, _ makeHandler: @escaping @Sendable (@escaping () -> Void) -> any MessageHandler
    ) async {
        let target = TransportClient.Target(
            host: host, port: port, path: path, tls: nil, deflate: DeflateSettings())
        await withCheckedContinuation { continuation in
            loop.execute {
                let handler = makeHandler { continuation.resume() }
                TransportClient.connect(on: loop, to: target, limits: EchoService.limits, handler: handler)
            }
        }
    }

    /// Keeps the text that the server sends. Written on the loop, read after the connection has ended.
    private final class Answer: MessageHandler, @unchecked Sendable {
        var text = ""
        var onClose: () -> Void = {}

        func received(_ connection: MessageConnection, _ kind: MessageKind, _ payload: MessagePayload) {
            text = String(decoding: payload.bytes, as: UTF8.self)
        }

        func closed(_ connection: MessageConnection, _ reason: CloseReason) {
            onClose()
        }
    }
}
