// SPDX-License-Identifier: Apache-2.0

/// An encrypted value in a ``FieldMap``. Its bytes say with which key of the zone it is encrypted.
/// Devices make and open it. A server reads only the key's id.
package struct SealedValue: Sendable, Hashable {
    package static let keyIDByteCount = 16
    package static let nonceByteCount = 12
    package static let tagByteCount = 16
    /// The first byte of the layout that `Fields.proto` describes.
    package static let version: UInt8 = 1
    static let byteCountMin = 1 + keyIDByteCount + nonceByteCount + tagByteCount

    package let keyID: [UInt8]
    package let nonce: [UInt8]
    /// As long as the plaintext and the tag together.
    package let ciphertext: [UInt8]

    /// - Parameters:
    ///   - keyID: ``keyIDByteCount`` bytes.
    ///   - nonce: ``nonceByteCount`` bytes.
    ///   - ciphertext: at least the tag.
    package init(keyID: [UInt8], nonce: [UInt8], ciphertext: [UInt8]) {
        precondition(keyID.count == Self.keyIDByteCount && nonce.count == Self.nonceByteCount)
        precondition(ciphertext.count >= Self.tagByteCount)
        self.keyID = keyID
        self.nonce = nonce
        self.ciphertext = ciphertext
    }

    /// Nil for bytes that are not a sealed value of this version.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count >= Self.byteCountMin, bytes[0] == Self.version else { return nil }
        let nonceStart = 1 + Self.keyIDByteCount
        let start = nonceStart + Self.nonceByteCount
        self.init(
            keyID: Array(bytes[1..<nonceStart]), nonce: Array(bytes[nonceStart..<start]),
            ciphertext: Array(bytes[start...]))
    }

    package var bytes: [UInt8] { [Self.version] + keyID + nonce + ciphertext }
}

extension FieldMap {
    /// Whether any value is encrypted. It costs nothing for validated fields without encrypted values.
    package var hasEncryptedValues: Bool {
        guard mayHaveEncryptedValues else { return false }
        var cursor = FieldCursor()
        while cursor.advance(in: bytes.span) {
            if cursor.current.isEncrypted, !cursor.current.isRemoval { return true }
        }
        return false
    }

    /// The ids of the keys with which the values are encrypted, each once. Nil if one of them is not a sealed value. It costs nothing for
    /// validated fields without encrypted values.
    package var sealingKeyIDs: [[UInt8]]? {
        guard mayHaveEncryptedValues else { return [] }
        var cursor = FieldCursor()
        var ids: [[UInt8]] = []
        while cursor.advance(in: bytes.span) {
            guard cursor.current.isEncrypted, !cursor.current.isRemoval else { continue }
            guard case .bytes(let content)? = try? FieldReader.value(bytes, cursor.current),
                let sealed = SealedValue(content)
            else { return nil }
            if !ids.contains(sealed.keyID) { ids.append(sealed.keyID) }
        }
        return ids
    }
}
