// SPDX-License-Identifier: Apache-2.0

internal import TidemarkCrypto
internal import TidemarkFields

/// Encrypts and decrypts the values of one record, as "Fields.proto" describes.
struct ValueCipher {
    let container: String
    let recordID: CKRecord.ID

    /// Why values cannot be decrypted.
    enum Trouble: Error {
        /// The zone's key with this id is unknown.
        case keyMissing([UInt8])
        /// The ciphertext was changed, or does not belong here.
        case damaged(key: String)
    }

    /// The fields with all values of the encrypted space encrypted.
    ///
    /// - Throws: `tooLarge` if the result exceeds the limit of a record.
    func seal(_ fields: FieldMap, with secret: ZoneSecret, keys rule: FieldKeyRule) throws(FieldError) -> FieldMap {
        var sealed: [Field] = []
        for entry in fields {
            let value = try entry.value()
            let isOpen = !entry.isEncrypted || entry.type == .removed
            let kept = isOpen ? value : try seal(value, key: entry.key, with: secret, rule)
            sealed.append(Field(entry.key, kept, isEncrypted: entry.isEncrypted))
        }
        return try FieldMap(sealed, keys: rule)
    }

    private func seal(
        _ value: FieldValue, key: String, with secret: ZoneSecret, _ rule: FieldKeyRule
    ) throws(FieldError) -> FieldValue {
        let content = try FieldMap([Field(key, value)], keys: rule).bytes
        let nonce = SecureRandom.bytes(AESGCM.nonceByteCount)
        let ciphertext = AESGCM.seal(content, key: secret.key, nonce: nonce, authenticating: context(key))
        return .bytes(SealedValue(keyID: secret.id, nonce: nonce, ciphertext: ciphertext).bytes)
    }

    /// The fields with all values of the encrypted space decrypted: the input of ``seal(_:with:keys:)``.
    ///
    /// - Parameter secrets: returns the keys with that id.
    func open(
        _ fields: FieldMap, keys rule: FieldKeyRule, secrets: ([UInt8]) -> [ZoneSecret]
    ) throws(Trouble) -> FieldMap {
        var opened: [Field] = []
        for entry in fields {
            guard let value = try? entry.value() else { throw .damaged(key: entry.key) }
            let isOpen = !entry.isEncrypted || entry.type == .removed
            let plain = isOpen ? value : try open(value, key: entry.key, rule, secrets)
            opened.append(Field(entry.key, plain, isEncrypted: entry.isEncrypted))
        }
        guard let map = try? FieldMap(opened, keys: rule) else { throw .damaged(key: "") }
        return map
    }

    private func open(
        _ value: FieldValue, key: String, _ rule: FieldKeyRule, _ secrets: ([UInt8]) -> [ZoneSecret]
    ) throws(Trouble) -> FieldValue {
        guard case .bytes(let bytes) = value, let sealed = SealedValue(bytes) else { throw .damaged(key: key) }
        let candidates = secrets(sealed.keyID)
        guard !candidates.isEmpty else { throw .keyMissing(sealed.keyID) }
        var content: [UInt8]?
        for secret in candidates where content == nil {
            content = AESGCM.open(
                sealed.ciphertext, key: secret.key, nonce: sealed.nonce, authenticating: context(key))
        }
        guard let content,
            let map = try? FieldMap(validating: content, keys: rule), map.count == 1, let entry = map[key],
            !entry.isEncrypted, entry.type?.isEncryptable == true, let plain = try? entry.value()
        else { throw .damaged(key: key) }
        return plain
    }

    private func context(_ key: String) -> [UInt8] {
        SealingContext.value(
            container: container, zoneName: recordID.zoneID.zoneName, recordName: recordID.recordName, key: key)
    }
}

extension FieldType {
    /// whether a value of this type can be encrypted.
    var isEncryptable: Bool {
        switch self {
        case .reference, .referenceList, .asset, .assetList, .removed: false
        default: true
        }
    }
}
