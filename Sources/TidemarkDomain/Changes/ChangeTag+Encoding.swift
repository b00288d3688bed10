// SPDX-License-Identifier: Apache-2.0

internal import TidemarkBytes

extension ChangeTag {
    fileprivate static let version: UInt8 = 1

    /// The tag as clients store it and send it back; opaque to them. Empty for a foreign tag, which no client is ever
    /// given.
    package var bytes: [UInt8] {
        guard case .version(let store, let zone, let number) = self else { return [] }
        let encoder = ChangeTagEncoder(store: store, zone: zone)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(encoder.byteCount(of: number))
        encoder.append(number, to: &bytes)
        return bytes
    }

    /// Reads a tag that a client sent. Any other bytes are ``foreign``, which matches no version. The client then gets
    /// a conflict, which it can resolve, rather than a malformed request, which it cannot.
    package init(bytes: [UInt8]) {
        self = Self.decode(bytes) ?? .foreign
    }

    private static func decode(_ bytes: [UInt8]) -> ChangeTag? {
        guard let content = TokenChecksum.opening(bytes) else { return nil }
        var reader = CompactReader(content)
        guard reader.readNumber() == UInt64(version), let store = reader.readNumber(), let zone = reader.readNumber(),
            let number = reader.readNumber(), reader.isAtEnd
        else { return nil }
        return .version(
            store: StoreIncarnation(store), zone: ZoneID(Int64(bitPattern: zone)), number: Int64(bitPattern: number))
    }
}

/// Writes the tags of one zone's versions. The common part is encoded once, which makes a page faster to write.
package struct ChangeTagEncoder: Sendable {
    private let prefix: [UInt8]
    private let prefixSum: UInt32

    package init(store: StoreIncarnation, zone: ZoneID) {
        var writer = CompactWriter(capacity: 24)
        writer.write(UInt64(ChangeTag.version))
        writer.write(store.rawValue)
        writer.write(UInt64(bitPattern: zone.rawValue))
        prefix = writer.bytes
        prefixSum = TokenChecksum.of(prefix[...])
    }

    package func byteCount(of number: ChangeNumber) -> Int {
        prefix.count + WireSize.number(UInt64(bitPattern: number)) + TokenChecksum.byteCount
    }

    /// Appends the ``ChangeTag/bytes`` of a version.
    package func append(_ number: ChangeNumber, to bytes: inout [UInt8]) {
        bytes.append(contentsOf: prefix)
        let start = bytes.count
        WireNumber.append(UInt64(bitPattern: number), to: &bytes)
        TokenChecksum.append(TokenChecksum.of(bytes[start...], after: prefixSum), to: &bytes)
    }
}

/// Four bytes at the end of tags and tokens that show whether they were cut or garbled. They hold no secret: a forged
/// token reaches only data that its sender may read anyway.
enum TokenChecksum {
    static let byteCount = 4

    static func sealing(_ content: [UInt8]) -> [UInt8] {
        var sealed = content
        append(of(content[...]), to: &sealed)
        return sealed
    }

    static func append(_ sum: UInt32, to bytes: inout [UInt8]) {
        for place in 1...4 { bytes.append(UInt8(truncatingIfNeeded: sum >> UInt32(32 - 8 * place))) }
    }

    static func opening(_ bytes: [UInt8]) -> [UInt8]? {
        guard bytes.count > 4 else { return nil }
        let sum = bytes.suffix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        return of(bytes.dropLast(4)) == sum ? Array(bytes.dropLast(4)) : nil
    }

    /// FNV-1a. Each step is one-to-one, so a single wrong byte always shows. The sum may be computed in pieces.
    static func of(_ bytes: ArraySlice<UInt8>, after sum: UInt32 = 2_166_136_261) -> UInt32 {
        bytes.reduce(sum) { ($0 ^ UInt32($1)) &* 16_777_619 }
    }
}
