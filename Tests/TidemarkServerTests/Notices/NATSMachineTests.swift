// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import TidemarkServer

@Suite struct NATSMachineTests {
    private typealias Action = NATSMachine.Action

    private static func info(_ members: String = "\"max_payload\":1048576", proto: Int = 1) -> String {
        "INFO {\"server_id\":\"A\",\"proto\":\(proto),\(members)} \r\n"
    }

    /// What comes of pieces of text, one after another.
    private static func run(_ pieces: [[UInt8]], wantsTLS: Bool = false) -> [Action] {
        var machine = NATSMachine(wantsTLS: wantsTLS)
        var actions: [Action] = []
        for piece in pieces {
            for action in piece.withUnsafeBytes({ machine.receive($0) }) {
                actions.append(action)
                if action == .secure { actions += machine.secured() }
            }
        }
        return actions
    }

    private static func run(_ text: String, wantsTLS: Bool = false) -> [Action] {
        run([Array(text.utf8)], wantsTLS: wantsTLS)
    }

    private static let session =
        info() + "PONG\r\n+OK\r\nMSG tidemark.z.7 1 5\r\nhello\r\nPING\r\nmsg\ttidemark.z.8  2 answers 2\r\n\r\n\r\n"
        + "INFO {\"ldm\":false}\r\n-ERR 'Permissions Violation for Publish to \"tidemark.z.7\"'\r\nPONG\r\n"
        + "MSG tidemark.z.9 3 0\r\n\r\n-ERR 'Stale Connection'\r\n"

    private static let sessionActions: [Action] = [
        .greet, .opened, .heard(subject: "tidemark.z.7", payload: Array("hello".utf8)), .send(Array("PONG\r\n".utf8)),
        .heard(subject: "tidemark.z.8", payload: [0x0D, 0x0A]),
        .denied("Permissions Violation for Publish to \"tidemark.z.7\""), .alive,
        .heard(subject: "tidemark.z.9", payload: []), .end(.refused("Stale Connection")),
    ]

    @Test func `R-874: a session of NATS means the same, wherever its bytes are cut`() {
        let bytes = Array(Self.session.utf8)
        #expect(Self.run([bytes]) == Self.sessionActions)
        #expect(Self.run(bytes.map { [$0] }) == Self.sessionActions)
        for first in 0...bytes.count {
            #expect(Self.run([Array(bytes[..<first]), Array(bytes[first...])]) == Self.sessionActions, "\(first)")
        }
        for width in 2...40 {
            let pieces = stride(from: 0, to: bytes.count, by: width).map {
                Array(bytes[$0..<min($0 + width, bytes.count)])
            }
            #expect(Self.run(pieces) == Self.sessionActions, "\(width)")
        }
    }

    @Test func `R-874: TLS begins after the first line, and nothing that came in the clear counts`() {
        let secured = Self.info("\"max_payload\":1048576,\"tls_required\":true")
        #expect(Self.run(secured, wantsTLS: true) == [.secure, .greet])
        let available = Self.info("\"max_payload\":1048576,\"tls_available\":true")
        #expect(Self.run(available, wantsTLS: true) == [.secure, .greet])
        // Somebody on the way added a message.
        #expect(
            Self.run(secured + "MSG tidemark.z.7 1 5\r\nhello\r\n", wantsTLS: true) == [.end(.protocolViolation)])
        #expect(Self.run(secured) == [.end(.needsTLS)])
        #expect(Self.run(Self.info(), wantsTLS: true) == [.end(.lacksTLS)])
    }

    private static let strangeBeginnings: [(text: String, failure: NATSFailure)] = [
        ("PING\r\n", NATSFailure.protocolViolation), ("HTTP/1.1 400 Bad Request\r\n", .protocolViolation),
        ("\r\n", .protocolViolation), ("\n", .protocolViolation), ("INFO\r\n", .protocolViolation),
        ("INFO []\r\n", .protocolViolation), ("INFO {\"proto\":1\r\n", .protocolViolation), ("INFO {}\r\n", .tooOld),
        (info(proto: 0), .tooOld), (info("\"max_payload\":4096"), .payloadTooSmall),
        (info("\"x\":1"), .payloadTooSmall),
        ("-ERR 'maximum connections exceeded'\r\n", .refused("maximum connections exceeded")),
        ("INFO \(String(repeating: "[", count: 60_000))\r\n", .protocolViolation),
        (String(repeating: "x", count: NATSMachine.infoBytesMax + 1), .lineTooLong),
        ("\(String(repeating: "x", count: NATSMachine.infoBytesMax + 1))\r\n", .lineTooLong),
    ]

    @Test(arguments: strangeBeginnings)
    func `I-6: a server that does not begin as one of NATS is left`(text: String, failure: NATSFailure) {
        #expect(Self.run(text) == [.end(failure)])
    }

    private static let strangeWords: [(text: String, failure: NATSFailure)] = [
        ("NONSENSE\r\n", NATSFailure.protocolViolation), ("PINGS\r\n", .protocolViolation),
        ("PONG\n", .protocolViolation),
        ("MSG\r\n", .protocolViolation), ("MSG a 1\r\n", .protocolViolation), ("MSG a x 5\r\n", .protocolViolation),
        ("MSG a 1 -5\r\n", .protocolViolation), ("MSG a 1 +5\r\n", .protocolViolation),
        ("MSG a 1 b c 5\r\n", .protocolViolation), ("MSG a 1 99999999999999999999\r\n", .protocolViolation),
        ("MSG a 1 67108865\r\n", .protocolViolation), ("MSG a 1 5\r\nhelloXX", .protocolViolation),
        ("INFO {\"ldm\":true}\r\n", .leaving), ("INFO nonsense\r\n", .protocolViolation),
        ("-ERR 'Authorization Violation'\r\n", .refused("Authorization Violation")), ("-ERR\r\n", .refused("")),
        ("-ERR '\u{1B}[2Jä'\r\n", .refused("?[2J??")),
        (String(repeating: "x", count: NATSMachine.lineBytesMax + 1), .lineTooLong),
    ]

    @Test(arguments: strangeWords)
    func `I-6: a server that goes on as none of NATS is left`(text: String, failure: NATSFailure) {
        let all = Array((Self.info() + "PONG\r\n" + text).utf8)
        #expect(Self.run([all]) == [.greet, .opened, .end(failure)])
        #expect(Self.run(all.map { [$0] }) == [.greet, .opened, .end(failure)])
        // And what it says afterwards is not read.
        #expect(Self.run([all, Array("PING\r\n".utf8)]) == [.greet, .opened, .end(failure)])
    }

    @Test func `I-7: a message that nobody here sends is passed over, and takes no memory`() {
        var machine = NATSMachine(wantsTLS: false)
        _ = Array((Self.info() + "PONG\r\nMSG a 1 67108864\r\n").utf8).withUnsafeBytes { machine.receive($0) }
        let piece = [UInt8](repeating: 0x0A, count: 65_536)
        for _ in 0..<1_024 {
            #expect(piece.withUnsafeBytes { machine.receive($0) }.isEmpty)
            #expect(machine.bytes.isEmpty)
        }
        #expect(
            Array("\r\nPING\r\n".utf8).withUnsafeBytes { machine.receive($0) } == [
                .passedOver, .send(Array("PONG\r\n".utf8)),
            ])
        let longest = String(repeating: "x", count: NATSMachine.payloadBytesMax)
        let text = "MSG a 1 \(longest.utf8.count)\r\n\(longest)\r\nMSG a 1 \(longest.utf8.count + 1)\r\n\(longest)x\r\n"
        #expect(
            Array(text.utf8).withUnsafeBytes { machine.receive($0) }
                == [.heard(subject: "a", payload: Array(longest.utf8)), .passedOver])
    }

    @Test func `R-874: what is sent is as NATS wants it, whatever the secrets are`() {
        func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
        let hello = text(
            NATSMachine.hello(name: "a\"b\\\u{1}", secret: .password(user: "u", password: "p\"\\:q"), isSecured: true))
        #expect(hello.hasPrefix("CONNECT {\"verbose\":false,\"pedantic\":false,\"echo\":false,\"protocol\":1,"))
        #expect(
            hello.hasSuffix(
                "\"name\":\"a\\\"b\\\\\\u0001\",\"tls_required\":true,\"user\":\"u\",\"pass\":\"p\\\"\\\\:q\"}\r\n"))
        #expect(
            text(NATSMachine.hello(name: "a", secret: .token("t"), isSecured: false)).hasSuffix(
                "\"auth_token\":\"t\"}\r\n"))
        #expect(!text(NATSMachine.hello(name: "a", secret: nil, isSecured: false)).contains("auth"))
        #expect(text(NATSMachine.publish("ä".utf8, to: "a.b")) == "PUB a.b 2\r\nä\r\n")
        #expect(text(NATSMachine.subscribe(to: "a.b", as: 7)) == "SUB a.b 7\r\n")
        #expect(text(NATSMachine.unsubscribe(7)) == "UNSUB 7\r\n")
    }

    @Test func `R-874: a line of credentials is a user with a password, or a token`() {
        #expect(NATSSecret("a:b:c") == .password(user: "a", password: "b:c"))
        #expect(NATSSecret("token") == .token("token"))
        for line in ["", ":b", "a:", "a\u{7}", "ä:b", "a\r\nb"] { #expect(NATSSecret(line) == nil, "\(line)") }
    }
}
