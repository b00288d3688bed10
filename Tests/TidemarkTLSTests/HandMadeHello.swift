// SPDX-License-Identifier: Apache-2.0

/// The first message of a client or of a server, put together byte by byte: it can say what no library would.
struct HandMadeHello: Sendable {
    enum Sender {
        case client, server
    }

    var sender = Sender.client
    var version: UInt16 = 0x0303
    /// The extension that TLS 1.3 is agreed on by; nil: without.
    var versions: [UInt16]?
    var suites: [UInt16]
    var compressions: [UInt8] = [0]
    var groups: [UInt16] = [29, 23, 24]
    /// RFC 5746 §3.2: what is said of an earlier handshake; nil: the extension is absent.
    var renegotiation: [UInt8]? = []

    /// In one record.
    var bytes: [UInt8] {
        var body = Self.number(version) + [UInt8](repeating: 7, count: 32) + [0]
        switch sender {
        case .client:
            body += Self.sized(suites.flatMap(Self.number)) + [UInt8(compressions.count)] + compressions
        case .server: body += suites.prefix(1).flatMap(Self.number) + compressions.prefix(1)
        }
        body += Self.sized(extensions)
        let message = [sender == .client ? 1 : 2, 0] + Self.sized(body)
        return [22, 3, version == 0x0300 ? 0 : 1] + Self.sized(message)
    }

    private var extensions: [UInt8] {
        var all: [UInt8] = []
        func add(_ type: UInt16, _ content: [UInt8]) { all += Self.number(type) + Self.sized(content) }
        if let renegotiation { add(0xFF01, [UInt8(renegotiation.count)] + renegotiation) }
        guard sender == .client else { return all }
        add(10, Self.sized(groups.flatMap(Self.number)))
        add(11, [1, 0])
        // ECDSA and RSA, with SHA-256 and with SHA-1.
        add(13, Self.sized([4, 3, 8, 4, 4, 1, 2, 3, 2, 1]))
        if let versions {
            add(43, [UInt8(versions.count * 2)] + versions.flatMap(Self.number))
            add(51, [0, 0])
        }
        return all
    }

    private static func number(_ value: UInt16) -> [UInt8] { [UInt8(value >> 8), UInt8(value & 0xFF)] }

    private static func sized(_ content: [UInt8]) -> [UInt8] { number(UInt16(content.count)) + content }
}

/// What a library's hello of a client says.
struct ReadHello {
    var suites: [UInt16] = []
    var compressions: [UInt8] = []
    var extensions: [UInt16: [UInt8]] = [:]

    init(_ record: [UInt8]) {
        // Record and message have heads of 5 and 4 bytes; then version and random.
        var rest = record.dropFirst(5 + 4 + 2 + 32)
        func take(_ count: Int) -> [UInt8] {
            defer { rest = rest.dropFirst(count) }
            return Array(rest.prefix(count))
        }
        func length(_ byteCount: Int) -> Int { take(byteCount).reduce(0) { $0 << 8 | Int($1) } }
        _ = take(length(1))
        suites = Self.numbers(take(length(2)))
        compressions = take(length(1))
        _ = length(2)
        while !rest.isEmpty { extensions[UInt16(length(2))] = take(length(2)) }
    }

    static func numbers(_ bytes: [UInt8]) -> [UInt16] {
        stride(from: 0, to: bytes.count - 1, by: 2).map { UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]) }
    }
}
