// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import TidemarkCrypto
internal import TidemarkHTTP
internal import TidemarkTelemetry

/// The secret of an operator's programs, which they send as a bearer token (RFC 6750). Only its hash is kept.
struct AdminToken: Sendable {
    /// Fewer characters can be guessed.
    static let charactersMin = 16
    private static let fileBytesMax = 4_096
    private static let log = Log("operations")

    private let hash: [UInt8]

    /// The first line of a file. Anyone who can read the file is an operator.
    ///
    /// - Throws: ``ServerError`` with `adminTokenUnusable`.
    init(file: String) throws(ServerError) {
        let descriptor = open(file, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw ServerError(.adminTokenUnusable, detail: Self.unreadable(file)) }
        defer { close(descriptor) }
        var status = stat()
        // A file that root keeps for a group, or gives to a service as a credential, is meant for us.
        if fstat(descriptor, &status) == 0, status.st_mode & (status.st_uid == geteuid() ? 0o077 : 0o007) != 0 {
            Self.log.warning("others can read the operators' token: chmod 600", ["file": file])
        }
        var bytes = [UInt8](repeating: 0, count: Self.fileBytesMax)
        let count = read(descriptor, &bytes, bytes.count)
        let line = bytes[..<max(0, count)].prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
        guard line.count >= Self.charactersMin, line.count < Self.fileBytesMax, line.allSatisfy(Self.isAllowed) else {
            throw ServerError(
                .adminTokenUnusable,
                detail:
                    "Its first line must be \(Self.charactersMin) or more letters, digits and -._~+/=: \(file). Make "
                    + "one with: openssl rand -base64 32")
        }
        hash = SHA256.hash(Array(line))
    }

    private static func unreadable(_ file: String) -> String {
        "\(file) cannot be read. Let the user of the server read it, or make it as that user: (umask 077; openssl rand "
            + "-base64 32 > \(file))"
    }

    /// RFC 6750 §2.1: `b64token`.
    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"), UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="):
            true
        default: false
        }
    }

    /// Whether a request shows it. The time does not depend on how much of a wrong token is right: hashes are compared,
    /// and all of them.
    func isShown(by fields: HeaderFields) -> Bool {
        guard let value = fields.onlyValue("Authorization") else { return false }
        let parts = value.split(separator: " ", omittingEmptySubsequences: true)
        guard parts.count == 2, HeaderFields.isSame(String(parts[0]), "Bearer") else { return false }
        let shown = SHA256.hash(Array(parts[1].utf8))
        return zip(hash, shown).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
