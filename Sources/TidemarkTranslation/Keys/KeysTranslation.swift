// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
package import TidemarkWire

extension AccountKey {
    /// A key that a device wants to give the account.
    ///
    /// - Throws: ``Refusal`` with `requestInvalid` for a mode that does not exist.
    package init(_ key: WireAccountKey) throws(Refusal) {
        let mode: EncryptionMode
        switch key.mode {
        case .escrowed: mode = .escrowed
        case .endToEnd: mode = .endToEnd
        case .unspecified, .unrecognized: throw Refusal(.requestInvalid, "There is no such mode of encryption.")
        }
        self.init(
            mode: mode, id: key.id, key: key.key.isEmpty ? nil : key.key,
            publicKey: key.publicKey.isEmpty ? nil : key.publicKey)
    }
}

extension WireAccountKey {
    package init(_ key: AccountKey) {
        self.init()
        mode = WireEncryptionMode(key.mode)
        id = key.id ?? []
        self.key = key.key ?? []
        publicKey = key.publicKey ?? []
    }
}

extension WireEncryptionMode {
    fileprivate init(_ mode: EncryptionMode) { self = mode == .escrowed ? .escrowed : .endToEnd }
}

extension KeyGrant {
    /// What a device gives to a user.
    package init(_ grant: WireKeyGrant, for user: UserID) {
        self.init(
            user: user, publicKey: grant.publicKey, newestID: grant.newestID, keyCount: Int(grant.keyCount),
            sealed: grant.sealed)
    }

    /// Where an answer has ended, for the request after it. Nil for bytes that no answer has.
    package static func place(_ bytes: [UInt8]) -> UserID? {
        guard bytes.count == 8 else { return nil }
        return UserID(Int64(bitPattern: bytes.reduce(0) { $0 << 8 | UInt64($1) }))
    }
}

extension WireGrantKeysAnswer {
    package init(_ page: KeyReadersPage) {
        self.init()
        readers = page.readers.map { reader in
            var wire = WireKeyReader()
            wire.user = reader.recordName
            wire.mode = WireEncryptionMode(reader.mode)
            wire.publicKey = reader.publicKey ?? []
            return wire
        }
        guard let last = page.last else { return }
        let bits = UInt64(bitPattern: last.rawValue)
        next = stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: bits >> UInt64($0)) }
    }
}

extension WrappedZoneKey {
    package init(_ key: WireZoneKey) {
        self.init(id: key.id, accountKeyID: key.accountKeyID, wrapped: key.wrapped)
    }
}

extension WireZoneKeys {
    package init(_ keys: [WrappedZoneKey]) {
        self.init()
        self.keys = keys.map { key in
            var wire = WireZoneKey()
            wire.id = key.id
            wire.accountKeyID = key.accountKeyID
            wire.wrapped = key.wrapped
            return wire
        }
    }
}

extension WireFetchKeysAnswer {
    /// - Parameters:
    ///   - found: the zones' keys, as many as fit into a page. The answer ends before the first
    ///     one that is left out.
    ///   - keys: all zones of the request. Nil: one that the caller's database cannot have.
    ///   - given: what the caller was given of zones.
    package init(
        _ account: AccountKey, _ found: [Result<[WrappedZoneKey], FailureReason>], of keys: [ZoneKey?],
        given: [ZoneKey: GivenKeys] = [:]
    ) {
        self.init()
        self.account = WireAccountKey(account)
        var rest = found[...]
        for key in keys {
            guard let key else {
                zones.append(WireZoneKeysResult(.failure(.zoneNotFound)))
                continue
            }
            guard let keys = rest.popFirst() else { break }
            zones.append(WireZoneKeysResult(keys, given: given[key]))
        }
    }
}

extension WireZoneKeysResult {
    package init(_ result: Result<[WrappedZoneKey], FailureReason>, given: GivenKeys? = nil) {
        self.init()
        switch result {
        case .success(let keys):
            self.keys = WireZoneKeys(keys)
            guard let given else { return }
            self.keys.given.sealed = given.sealed
            self.keys.given.ownerPublicKey = given.ownerPublicKey
            self.keys.given.ownerMode = WireEncryptionMode(given.ownerMode)
        case .failure(let reason): failure = reason.wire()
        }
    }
}
