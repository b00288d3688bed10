// SPDX-License-Identifier: Apache-2.0

/// An encrypted value as it stands in a ``FieldMap``: bytes that say with which key of the zone they are encrypted.
/// Devices make and open them; a server looks at the key's id alone.
package struct SealedValue: Sendable, Hashable {
    package static let keyIDByteCount = 16
    package static let nonceByteCount = 12
    package static let tagByteCount = 16
    /// The first byte of the layout that `Fields.proto` describes.
    package static let version: UInt8 = 1
    static let byteCountMin = 1 + keyIDByteCount + nonceByteCount + tagByteCount

    package let keyID: [UInt8]
    package let nonce: [UInt8]
    /// As long as the value's own bytes, and the tag.
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

    /// Nil for bytes that are no sealed value of this version.
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
    /// Whether any value is encrypted. Costs nothing for fields that were validated and have none.
    package var hasEncryptedValues: Bool {
        guard mayHaveEncryptedValues else { return false }
        var cursor = FieldCursor()
        while cursor.advance(in: bytes.span) {
            if cursor.current.isEncrypted, !cursor.current.isRemoval { return true }
        }
        return false
    }

    /// The ids of the keys that the encrypted values were encrypted with, each once; nil if one of them is no sealed value.
    /// Costs nothing for fields that were validated and have none.
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
