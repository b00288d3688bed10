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
        self.init(mode: mode, id: key.id, key: key.key.isEmpty ? nil : key.key)
    }
}

extension WireAccountKey {
    package init(_ key: AccountKey) {
        self.init()
        mode = key.mode == .escrowed ? .escrowed : .endToEnd
        id = key.id ?? []
        self.key = key.key ?? []
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
    package init(
        _ account: AccountKey, _ found: [Result<[WrappedZoneKey], FailureReason>], of keys: [ZoneKey?]
    ) {
        self.init()
        self.account = WireAccountKey(account)
        var rest = found[...]
        for key in keys {
            if key == nil {
                zones.append(WireZoneKeysResult(.failure(.zoneNotFound)))
            } else if let keys = rest.popFirst() {
                zones.append(WireZoneKeysResult(keys))
            } else {
                break
            }
        }
    }
}

extension WireZoneKeysResult {
    package init(_ result: Result<[WrappedZoneKey], FailureReason>) {
        self.init()
        switch result {
        case .success(let keys): self.keys = WireZoneKeys(keys)
        case .failure(let reason): failure = reason.wire()
        }
    }
}
