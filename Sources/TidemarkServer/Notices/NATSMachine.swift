// SPDX-License-Identifier: Apache-2.0

internal import TidemarkBytes

/// A client's side of the protocol of NATS: bytes in, what to do out, however the bytes are split. A pure value.
///
/// Lines end with CRLF. A message is a line with its subject and its length, and then its payload. Headers and queue groups
/// are not used. The protocol: https://docs.nats.io/reference/reference-protocols/nats-protocol
struct NATSMachine {
    /// The actions of the connection.
    enum Action: Equatable {
        /// Begin with TLS, and then tell ``secured()``.
        case secure
        /// Send the name of this client, its subscriptions, and a PING (``hello(name:secret:isSecured:)``, ``ping``).
        case greet
        /// The server has received everything up to ``greet``.
        case opened
        case send([UInt8])
        case heard(subject: String, payload: [UInt8])
        /// A message was passed over because nobody sends such long ones here.
        case passedOver
        /// A right is missing. The connection goes on.
        case denied(String)
        /// The answer to a later PING.
        case alive
        /// Close the connection. Nothing comes afterwards.
        case end(NATSFailure)
    }

    private enum Phase {
        case awaitingInfo, securing, greeting, open, ended
    }

    private enum Part {
        case line
        /// A payload and its line end.
        case payload(subject: String, byteCount: Int)
        case passing(byteCount: Int)
    }

    /// The first line has addresses of all servers of a cluster.
    static let infoBytesMax = 65_536
    /// Other lines: a subject, or an error with its text.
    static let lineBytesMax = 4_096
    /// Twice of what a server of ours sends at once.
    static let payloadBytesMax = 16_384
    /// The most that NATS itself allows.
    private static let payloadBytesBeyond = 67_108_864
    private static let failureTextBytesMax = 200

    private let wantsTLS: Bool
    private var phase = Phase.awaitingInfo
    private var part = Part.line
    /// The kept bytes: no more than the longest line or payload, and the bytes that come with its end.
    private(set) var bytes: [UInt8] = []
    /// How many of `bytes` have no line end.
    private var searched = 0

    init(wantsTLS: Bool) {
        self.wantsTLS = wantsTLS
    }

    // MARK: Output

    static let ping = Array("PING\r\n".utf8)
    private static let pong = Array("PONG\r\n".utf8)

    /// The name and the credential of this client. The server does not send this connection its own messages.
    static func hello(name: String, secret: NATSSecret?, isSecured: Bool) -> [UInt8] {
        var members = [
            "\"verbose\":false", "\"pedantic\":false", "\"echo\":false", "\"protocol\":1", "\"lang\":\"swift\"",
            "\"version\":\(quoted(Server.version))", "\"name\":\(quoted(name))", "\"tls_required\":\(isSecured)",
        ]
        switch secret {
        case .token(let token): members.append("\"auth_token\":\(quoted(token))")
        case .password(let user, let password):
            members += ["\"user\":\(quoted(user))", "\"pass\":\(quoted(password))"]
        case nil: break
        }
        return Array("CONNECT {\(members.joined(separator: ","))}\r\n".utf8)
    }

    static func subscribe(to subject: String, as number: UInt64) -> [UInt8] {
        Array("SUB \(subject) \(number)\r\n".utf8)
    }

    static func unsubscribe(_ number: UInt64) -> [UInt8] { Array("UNSUB \(number)\r\n".utf8) }

    static func publish(_ payload: some Collection<UInt8>, to subject: String) -> [UInt8] {
        Array("PUB \(subject) \(payload.count)\r\n".utf8) + payload + [0x0D, 0x0A]
    }

    private static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case _ where scalar.value < 0x20:
                let digits = String(scalar.value, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }

    // MARK: Input

    /// TLS is established.
    mutating func secured() -> [Action] {
        guard phase == .securing else { return [] }
        phase = .greeting
        return [.greet]
    }

    mutating func receive(_ new: UnsafeRawBufferPointer) -> [Action] {
        guard phase != .ended else { return [] }
        var actions: [Action] = []
        bytes.append(contentsOf: new)
        var start = 0
        while phase != .ended, let next = step(&start) { actions += next }
        if phase == .ended { bytes = [] } else { bytes.removeFirst(start) }
        searched = max(0, searched - start)
        return actions
    }

    /// Nil: more bytes are needed.
    private mutating func step(_ start: inout Int) -> [Action]? {
        switch part {
        case .line:
            let lengthMax = phase == .awaitingInfo ? Self.infoBytesMax : Self.lineBytesMax
            guard let end = bytes[max(start, searched)...].firstIndex(of: 0x0A) else {
                searched = bytes.count
                return bytes.count - start > lengthMax ? fail(.lineTooLong) : nil
            }
            guard end - start <= lengthMax else { return fail(.lineTooLong) }
            guard end > start, bytes[end - 1] == 0x0D else { return fail(.protocolViolation) }
            let line = Array(bytes[start..<end - 1])
            start = end + 1
            searched = start
            let actions = take(line)
            // A peer that sends more in the clear, before TLS, may not be the server.
            if phase == .securing, start < bytes.count { return fail(.protocolViolation) }
            return actions
        case .payload(let subject, let count):
            guard bytes.count - start >= count + 2 else { return nil }
            let end = start + count
            guard bytes[end] == 0x0D, bytes[end + 1] == 0x0A else { return fail(.protocolViolation) }
            let payload = Array(bytes[start..<end])
            start = end + 2
            searched = start
            part = .line
            return [.heard(subject: subject, payload: payload)]
        case .passing(let count):
            let passed = min(count, bytes.count - start)
            guard passed > 0 else { return nil }
            start += passed
            searched = start
            guard passed == count else {
                part = .passing(byteCount: count - passed)
                return nil
            }
            part = .line
            return [.passedOver]
        }
    }

    private mutating func take(_ line: [UInt8]) -> [Action] {
        let end = line.firstIndex { $0 == 0x20 || $0 == 0x09 } ?? line.count
        let rest = line[end...].drop { $0 == 0x20 || $0 == 0x09 }
        // Names of operations are of either case.
        let name = String(decoding: line[..<end].prefix(5), as: UTF8.self).uppercased()
        if phase == .awaitingInfo || phase == .securing, name != "INFO", name != "-ERR" {
            return fail(.protocolViolation)
        }
        switch name {
        case "INFO": return takeInfo(Array(rest))
        case "MSG": return takeMessage(rest)
        case "PING": return [.send(Self.pong)]
        case "PONG":
            guard phase == .greeting else { return [.alive] }
            phase = .open
            return [.opened]
        case "+OK": return []
        case "-ERR": return takeFailure(rest)
        default: return fail(.protocolViolation)
        }
    }

    private mutating func takeInfo(_ text: [UInt8]) -> [Action] {
        guard let info = try? JSONReader.read(text, depthMax: 4).object else { return fail(.protocolViolation) }
        guard phase == .awaitingInfo else {
            // Later ones tell of other servers, or that this one stops and wants its clients to go.
            return info["ldm"]?.flag == true ? fail(.leaving) : []
        }
        guard let version = info["proto"]?.number, version >= 1 else { return fail(.tooOld) }
        guard let room = info["max_payload"]?.number, room >= Double(Self.payloadBytesMax) else {
            return fail(.payloadTooSmall)
        }
        let needsTLS = info["tls_required"]?.flag == true
        guard wantsTLS else {
            if needsTLS { return fail(.needsTLS) }
            phase = .greeting
            return [.greet]
        }
        guard needsTLS || info["tls_available"]?.flag == true else { return fail(.lacksTLS) }
        phase = .securing
        return [.secure]
    }

    /// `<subject> <number of the subscription> [subject for answers] <bytes>`
    private mutating func takeMessage(_ rest: ArraySlice<UInt8>) -> [Action] {
        let words = rest.split { $0 == 0x20 || $0 == 0x09 }.map { String(decoding: $0, as: UTF8.self) }
        guard words.count == 3 || words.count == 4, UInt64(words[1]) != nil, let last = words.last,
            last.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let count = Int(last),
            count <= Self.payloadBytesBeyond
        else { return fail(.protocolViolation) }
        if count > Self.payloadBytesMax {
            part = .passing(byteCount: count + 2)
        } else {
            part = .payload(subject: words[0], byteCount: count)
        }
        return []
    }

    private mutating func takeFailure(_ rest: ArraySlice<UInt8>) -> [Action] {
        // It may name a subject. A reader of the log gets only printable characters.
        let printable = rest.prefix(Self.failureTextBytesMax).map { (0x20..<0x7F).contains($0) ? $0 : 0x3F }
        var text = String(decoding: printable, as: UTF8.self)[...]
        while text.hasPrefix("'") { text.removeFirst() }
        while text.hasSuffix("'") { text.removeLast() }
        guard !text.lowercased().hasPrefix("permissions violation") else { return [.denied(String(text))] }
        return fail(.refused(String(text)))
    }

    private mutating func fail(_ failure: NATSFailure) -> [Action] {
        phase = .ended
        return [.end(failure)]
    }
}

/// The credential of this server for a server of NATS.
enum NATSSecret: Sendable, Equatable {
    case token(String)
    case password(user: String, password: String)

    /// - Parameter line: `USER:PASSWORD`, or a token, which has no colon. Nil: it is neither.
    init?(_ line: String) {
        guard !line.isEmpty, line.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) else { return nil }
        guard let colon = line.firstIndex(of: ":") else {
            self = .token(line)
            return
        }
        let (user, password) = (line[..<colon], line[line.index(after: colon)...])
        guard !user.isEmpty, !password.isEmpty else { return nil }
        self = .password(user: String(user), password: String(password))
    }
}

/// Why a connection to a server of NATS ended.
enum NATSFailure: Error, Equatable {
    case protocolViolation
    case lineTooLong
    /// It takes no clients without TLS.
    case needsTLS
    /// It has no TLS.
    case lacksTLS
    /// It is from before 2018: it sends back what one publishes.
    case tooOld
    case payloadTooSmall
    /// It stops, and wants its clients to go to others.
    case leaving
    /// The server's text.
    case refused(String)
    case unreachable
    case tlsFailed
    case lost
    /// It did not answer in time.
    case silent

    /// One of few, for the log.
    var kind: String {
        switch self {
        case .protocolViolation: "protocol violation"
        case .lineTooLong: "line too long"
        case .needsTLS: "needs TLS"
        case .lacksTLS: "has no TLS"
        case .tooOld: "too old"
        case .payloadTooSmall: "payload too small"
        case .leaving: "stops"
        case .refused: "refused"
        case .unreachable: "unreachable"
        case .tlsFailed: "TLS failed"
        case .lost: "lost"
        case .silent: "silent"
        }
    }

    /// Advice for an operator.
    var advice: String {
        switch self {
        case .protocolViolation, .lineTooLong: "check that --notice-bus-url leads to the clients' port of NATS"
        case .needsTLS: "use tls:// in --notice-bus-url"
        case .lacksTLS: "give the server of NATS a certificate, or use nats:// if it is on this machine"
        case .tooOld: "use nats-server 1.2 or newer"
        case .payloadTooSmall: "set max_payload of NATS to \(NATSMachine.payloadBytesMax) or more"
        case .refused: "check --notice-bus-credentials, and what NATS allows this user"
        case .tlsFailed: "check the certificate of NATS and --notice-bus-ca"
        case .leaving, .unreachable, .lost, .silent:
            "check that NATS runs and can be reached; devices hear of changes later meanwhile"
        }
    }
}
