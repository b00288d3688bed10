// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TidemarkCrypto

/// Keys of a zone, as the fragment of a share's URL carries them, and as a device keeps them afterwards. No server is
/// ever sent a fragment.
struct ZoneLinkKeys: Sendable, Equatable {
    /// How many a device keeps of a zone: those of ten URLs with as many keys as a zone can have.
    static let countMax = 1_000
    /// As many as a zone can have. A URL gets fewer (``urlCountMax``).
    private static let zoneCountMax = 100
    /// How many keys a URL has: longer URLs do not survive all messengers.
    static let urlCountMax = 16
    private static let idByteCount = 16
    private static let checkByteCount = 4
    /// What a fragment with keys begins with. The number changes with the form of the rest.
    private static let prefix = "keys1."

    /// Oldest first, at least one. On a device an id may have several: one may be of a forged URL.
    let secrets: [ZoneSecret]

    /// - Returns: nil without keys.
    init?(_ secrets: some Collection<ZoneSecret>) {
        guard !secrets.isEmpty else { return nil }
        self.secrets = Array(secrets.prefix(Self.countMax))
    }

    /// The key with which to encrypt under that id.
    func secret(_ id: [UInt8]) -> ZoneSecret? { secrets.first { $0.id == id } }

    /// The keys that may open what is encrypted under that id.
    func secrets(_ id: [UInt8]) -> [ZoneSecret] { secrets.filter { $0.id == id } }

    /// With keys that came later. A key that is here already stays as it is, whatever a later link says of its id. That one opens
    /// values too, if the first one does not, and encrypts none.
    func adding(_ newer: ZoneLinkKeys) -> ZoneLinkKeys {
        // None makes room: a forged URL of many keys would push the genuine ones out.
        let fresh = newer.secrets.filter { !secrets.contains($0) }
        return ZoneLinkKeys(secrets + fresh) ?? self
    }

    // MARK: Bytes

    /// For each key its id and the key.
    var bytes: [UInt8] { secrets.flatMap { $0.id + $0.key } }

    /// - Returns: nil unless there are whole keys, and at least one.
    init?(bytes: [UInt8]) {
        let size = Self.idByteCount + AESGCM.keyByteCount
        guard !bytes.isEmpty, bytes.count.isMultiple(of: size), bytes.count <= size * Self.countMax else { return nil }
        secrets = stride(from: 0, to: bytes.count, by: size).map { start in
            ZoneSecret(
                id: Array(bytes[start..<start + Self.idByteCount]),
                key: Array(bytes[start + Self.idByteCount..<start + size]))
        }
    }

    // MARK: URLs

    /// In the letters of base 64 for URLs (RFC 4648 §5), without padding, with a checksum. A URL that was cut off is found out.
    var fragment: String {
        let text = Data(bytes + Self.check(bytes)).base64EncodedString()
            .replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
            .replacingOccurrences(of: "=", with: "")
        return Self.prefix + text
    }

    /// - Throws: `invalidArguments` if these are no keys, or not all of them.
    init(fragment: String) throws(CKError) {
        guard fragment.hasPrefix(Self.prefix) else { throw Self.damaged }
        var text = fragment.dropFirst(Self.prefix.count)
            .replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
        text += String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        guard let data = Data(base64Encoded: text) else { throw Self.damaged }
        let content = [UInt8](data.dropLast(Self.checkByteCount))
        guard [UInt8](data.suffix(Self.checkByteCount)) == Self.check(content),
            let keys = ZoneLinkKeys(bytes: content), keys.secrets.count <= Self.zoneCountMax,
            Set(keys.secrets.map(\.id)).count == keys.secrets.count
        else { throw Self.damaged }
        self = keys
    }

    /// The keys in a URL; nil if it has another fragment, or none.
    ///
    /// - Throws: `invalidArguments` if it has some that cannot be read.
    init?(in url: URL) throws(CKError) {
        guard let fragment = URLComponents(url: url, resolvingAgainstBaseURL: false)?.fragment,
            fragment.hasPrefix("keys")
        else { return nil }
        self = try ZoneLinkKeys(fragment: fragment)
    }

    private static func check(_ bytes: [UInt8]) -> [UInt8] {
        Array(SHA256.hash(Array("tidemark link keys 1".utf8) + bytes).prefix(checkByteCount))
    }

    private static let damaged = CKError(
        .invalidArguments,
        message: "The keys at the end of the share's URL cannot be read. Copy all of the URL, or update the app. "
            + "If that does not help, ask for the URL anew.")
}
