// SPDX-License-Identifier: Apache-2.0

internal import TidemarkSockets
internal import TidemarkTransport

/// The bus by which servers tell each other of changes, if it is not the database (R-874).
package struct NoticeBusSettings: Sendable {
    /// The reason why a text is not a list of servers.
    package enum Problem: Error, Equatable {
        /// No URL of this form.
        case malformed(String)
        /// The scheme is not of a known bus.
        case schemeUnknown(String)
        /// User or password are in the URL, where everybody sees them.
        case hasSecret
        /// It is not on this machine, and has no TLS.
        case plainBeyondLoopback(String)
        /// Two servers of one list differ in what stands before the databases, or in TLS.
        case different
    }

    /// One server of NATS.
    struct Place: Sendable, Hashable {
        let host: String
        let port: UInt16
    }

    let places: [Place]
    /// With TLS.
    let isSecured: Bool
    /// The beginning of all subjects.
    let prefix: String
    var secret: NATSSecret?
    /// PEM: authorities to trust besides the system's.
    package var authorityFile: String?

    private static let portDefault: UInt16 = 4_222
    private static let prefixDefault = "tidemark"
    private static let prefixBytesMax = 64
    private static let placesMax = 16

    /// - Parameter text: `nats://127.0.0.1:4222`, or `tls://a.example/notes,tls://b.example/notes`. The path is what all
    ///   subjects begin with; without it, it is `tidemark`. The port is 4222 without another one.
    package init(_ text: String) throws(Problem) {
        // First: no other problem may show it.
        if text.contains("@") { throw .hasSecret }
        var places: [Place] = []
        var form: (isSecured: Bool, prefix: String)?
        let parts = text.split(separator: ",", omittingEmptySubsequences: false).map {
            String($0.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
        }
        guard !parts.isEmpty, parts.count <= Self.placesMax else { throw .malformed(text) }
        for part in parts {
            let (place, isSecured, prefix) = try Self.parse(part)
            if let form, form != (isSecured, prefix) { throw .different }
            form = (isSecured, prefix)
            places.append(place)
        }
        guard let form else { throw .malformed(text) }
        self.places = places
        (isSecured, prefix) = form
    }

    private static func parse(_ text: String) throws(Problem) -> (Place, isSecured: Bool, prefix: String) {
        let lower = text.lowercased()
        guard let end = lower.firstRange(of: "://") else { throw .malformed(text) }
        let scheme = String(lower[..<end.lowerBound])
        let schemes = ["nats": "http", "tls": "https"]
        guard let known = schemes[scheme] else { throw .schemeUnknown(scheme) }
        let rest = text.dropFirst(scheme.count)
        guard let parts = HTTPURL(known + rest, portDefault: { _ in portDefault }) else { throw .malformed(text) }
        let prefix = parts.path.isEmpty || parts.path == "/" ? prefixDefault : String(parts.path.dropFirst())
        guard isPrefix(prefix) else { throw .malformed(text) }
        if !parts.isSecured, let address = SocketAddress(numericHost: parts.host, port: parts.port), !address.isLoopback
        {
            throw .plainBeyondLoopback(parts.host)
        }
        return (Place(host: parts.host, port: parts.port), parts.isSecured, prefix)
    }

    /// Words of letters, digits, `-` and `_`, with dots between: they mean nothing else to NATS.
    private static func isPrefix(_ text: String) -> Bool {
        text.utf8.count <= prefixBytesMax
            && text.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { word in
                !word.isEmpty
                    && word.utf8.allSatisfy { byte in
                        switch byte {
                        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                            true
                        default: false
                        }
                    }
            }
    }

    /// Sets the credential of this server for the bus.
    ///
    /// - Parameter line: `USER:PASSWORD`, or a token, which has no colon.
    /// - Returns: false if it is neither.
    package mutating func authenticate(with line: String) -> Bool {
        secret = NATSSecret(line)
        return secret != nil
    }
}
