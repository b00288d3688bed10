// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import Testing
import TidemarkBytes
import TidemarkScheduling
import TidemarkTestSupport
import TidemarkWire

@testable import TidemarkKit

/// What people read of a server: its warnings, each once, and which server it was that failed.
@Suite struct CloudContextServerTextTests {
    typealias Failure = ConnectionMachine.RequestFailure
    private let scheduler = ManualScheduler()

    @Test func `R-014: what the server warns of is written once, whichever connection hears it, and how often`() {
        let server = ScriptedServer(scheduler)
        let written = Mutex<[String]>([])
        let context = CloudContext(
            containerIdentifier: "iCloud.test", token: "alice", transport: server, scheduler: scheduler,
            engineScheduler: scheduler,
            writeWarning: { text, container in written.withLock { $0.append("\(container): \(text)") } })
        func warn(_ texts: String...) {
            server.answer { envelope in
                guard case .hello = envelope.request else { return nil }
                var answer = WireHelloAnswer()
                answer.memoryEpoch = 1
                answer.userRecordName = "_alice"
                answer.warnings = texts
                return .hello(answer)
            }
        }
        warn("The container x is new.")
        let connections = (0..<3).map { context.makeConnection(device: Array(repeating: UInt8($0), count: 16)) }
        func connect() {
            for connection in connections {
                _ = connection.begin(timeout: .seconds(60), generation: nil) { _ in WireClientEnvelope() }
            }
            scheduler.advance(by: .seconds(5))
            #expect(server.openCount == 3)
        }
        connect()
        #expect(written.withLock { $0 } == ["iCloud.test: The container x is new."])
        server.cut()
        warn("The container x is new.", "Another.")
        scheduler.advance(by: .seconds(5))
        connect()
        #expect(written.withLock { $0 } == ["iCloud.test: The container x is new.", "iCloud.test: Another."])
    }

    @Test func `R-373: an answer that does not come says from which server`() throws {
        for (isChange, start) in [(true, "The request was sent to"), (false, "No answer came from")] {
            var machine = ConnectionMachine(hello: WireHello(), serverName: "wss://example.org")
            let now = ConnectionMachine.Moment(monotonic: .seconds(1), withSleep: .seconds(1))
            let (id, _) = machine.request(isChange: isChange, now: now) { _ in WireClientEnvelope() }
            _ = machine.opened()
            var answer = WireServerEnvelope()
            answer.hello.userRecordName = "_alice"
            answer.hello.memoryEpoch = 1
            _ = machine.received(answer.encoded, now: now)
            let failures = machine.timeOut(id, now: now).compactMap { action in
                if case .answer(id, .failure(let failure), _) = action { failure } else { nil }
            }
            let text = CKError(try #require(failures.first)).localizedDescription
            #expect(text.hasPrefix("\(start) the server wss://example.org"), "\(text)")
        }
    }

    @Test(arguments: [
        (Failure.Code.offline, "There is no connection to the server wss://example.org. Try again later."),
        (
            .cut,
            "The connection to the server wss://example.org was cut while a part of an asset was on its way. Save the "
                + "record again."
        ),
        (.refused(.notAuthenticated), "The server wss://example.org says: Why."),
        (.refused(.badContainer), "The server wss://example.org says: Why."),
        (.refused(.limitExceeded), "Why."),
    ])
    func `R-373: what fails for the server's sake says which server that is`(code: Failure.Code, text: String) {
        let message = if case .refused = code { "Why." } else { "" }
        let error = CKError(Failure(code: code, message: message, serverName: "wss://example.org"))
        #expect(error.localizedDescription == text)
    }

    @Test func `R-373: a server's name is its URL without what is secret`() throws {
        let url = try #require(URL(string: "wss://user:password@example.org:8443/x?token=tm_secret#y"))
        let transport = SocketTransport(
            configuration: TidemarkConfiguration(url: url, token: "tm_secret"))
        #expect(transport.serverName == "wss://example.org:8443/x")
    }
}
