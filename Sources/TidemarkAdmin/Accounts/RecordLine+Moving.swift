// SPDX-License-Identifier: Apache-2.0

internal import TidemarkBytes
internal import TidemarkCrypto
internal import TidemarkDomain
internal import TidemarkFields

extension RecordLine {
    /// The same record by another name, to which its encrypted values are bound anew. It is for user records, which
    /// have another name on each server. A value whose key is not given is not here any more: nobody could open it.
    ///
    /// - Parameters:
    ///   - zoneKeys: keys of the zone by their ids.
    ///   - place: the container and the zone, which have the same names there.
    func moved(
        to name: String, zoneKeys: [[UInt8]: [UInt8]], in place: (container: String, zoneName: String)
    ) -> RecordLine {
        guard name != recordName else { return self }
        var moved = RecordLine(recordName: name, recordType: recordType, parent: parent, fields: fields)
        for (key, field) in fields where field.isEncrypted {
            func context(of recordName: String) -> [UInt8] {
                SealingContext.value(
                    container: place.container, zoneName: place.zoneName, recordName: recordName, key: key)
            }
            let bytes = field.resealed(from: context(of: recordName), to: context(of: name), zoneKeys)
            moved.fields[key] = RecordLineField(
                type: RecordLineField.encryptedType, content: bytes.map { .text(Base64.encode($0)) })
        }
        return moved
    }
}

extension RecordLineField {
    /// Nil if it is no encrypted value, if its key is not given, or if it was damaged.
    fileprivate func resealed(
        from old: [UInt8], to new: [UInt8], _ zoneKeys: [[UInt8]: [UInt8]]
    ) -> [UInt8]? {
        guard case .bytes(let bytes)? = value, let sealed = SealedValue(bytes), let key = zoneKeys[sealed.keyID],
            let content = AESGCM.open(sealed.ciphertext, key: key, nonce: sealed.nonce, authenticating: old)
        else { return nil }
        let nonce = SecureRandom.bytes(AESGCM.nonceByteCount)
        let ciphertext = AESGCM.seal(content, key: key, nonce: nonce, authenticating: new)
        return SealedValue(keyID: sealed.keyID, nonce: nonce, ciphertext: ciphertext).bytes
    }
}
