// SPDX-License-Identifier: Apache-2.0

internal import TidemarkBytes
internal import TidemarkCrypto
package import TidemarkDomain
internal import TidemarkService

/// The key that encrypts the account keys in the store. It is kept in a file, outside the database.
package struct MasterKey: KeyEscrow {
    package static let byteCount = 32

    private let key: [UInt8]
    /// A digest by which servers see that they have the same key. The database keeps it.
    package let check: [UInt8]

    /// - Returns: nil unless there are ``byteCount`` bytes.
    package init?(_ key: [UInt8]) {
        guard key.count == Self.byteCount else { return nil }
        self.key = key
        check = Array(SHA256.hash(Array("tidemark master key check 1".utf8) + key).prefix(16))
    }

    package static func random() -> [UInt8] { SecureRandom.bytes(byteCount) }

    package func close(_ key: [UInt8], of user: UserID) -> [UInt8] {
        let nonce = SecureRandom.bytes(AESGCM.nonceByteCount)
        return nonce + AESGCM.seal(key, key: self.key, nonce: nonce, authenticating: context(user))
    }

    package func open(_ escrow: [UInt8], of user: UserID) -> [UInt8]? {
        guard escrow.count > AESGCM.nonceByteCount else { return nil }
        return AESGCM.open(
            Array(escrow[AESGCM.nonceByteCount...]), key: key, nonce: Array(escrow[..<AESGCM.nonceByteCount]),
            authenticating: context(user))
    }

    /// Binds the ciphertext to its user: a row that is moved to another user cannot be decrypted.
    private func context(_ user: UserID) -> [UInt8] {
        Array("tidemark account key 1".utf8)
            + (0..<8).map { UInt8(truncatingIfNeeded: user.rawValue >> Int64(56 - 8 * $0)) }
    }
}

extension MasterKey {
    /// The form in a file: 64 hexadecimal digits.
    package static func text(of key: [UInt8]) -> String { Hex.encode(key) }

    /// Reads a file's content, ignoring white space around it.
    package init?(text: String) {
        let digits = text.utf8.filter { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
        guard let key = Hex.decode(String(decoding: digits, as: UTF8.self)) else { return nil }
        self.init(key)
    }
}
