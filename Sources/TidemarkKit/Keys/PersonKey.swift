// SPDX-License-Identifier: Apache-2.0

internal import TidemarkCrypto
internal import TidemarkWire

/// What a device knows of the key of another account. The first one that it meets counts.
struct PersonKey: Sendable, Equatable {
    private static let escrowed: UInt8 = 1
    private static let endToEnd: UInt8 = 2

    /// Whether no server has the account's key, as servers say.
    let isEndToEnd: Bool
    let publicKey: [UInt8]

    init(isEndToEnd: Bool, publicKey: [UInt8]) {
        self.isEndToEnd = isEndToEnd
        self.publicKey = publicKey
    }

    /// - Returns: nil for a key of another length, and for a mode that this version does not know.
    init?(_ mode: WireEncryptionMode, _ publicKey: [UInt8]) {
        guard publicKey.count == X25519KeyPair.byteCount, mode == .escrowed || mode == .endToEnd else { return nil }
        self.init(isEndToEnd: mode == .endToEnd, publicKey: publicKey)
    }

    // MARK: Bytes

    var bytes: [UInt8] { [isEndToEnd ? Self.endToEnd : Self.escrowed] + publicKey }

    init?(bytes: [UInt8]) {
        guard bytes.count == 1 + X25519KeyPair.byteCount, let mode = bytes.first,
            mode == Self.escrowed || mode == Self.endToEnd
        else { return nil }
        self.init(isEndToEnd: mode == Self.endToEnd, publicKey: Array(bytes.dropFirst()))
    }

    /// What two people compare of one of them.
    func statement(of recordName: String) -> [UInt8] {
        let name = Array(recordName.utf8)
        return SealingContext.bytes(name) + bytes
    }
}
