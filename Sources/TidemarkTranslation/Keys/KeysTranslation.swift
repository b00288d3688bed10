// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
package import TidemarkWire

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension AccountKey {
    /// A key that a device wants to give the account.
    ///
    /// - Throws: ``Refusal`` with `requestInvalid` for a mode that there is not.
    package init(_ key: WireAccountKey) throws(Refusal) {
        let mode: EncryptionMode
        switch key.mode {
        case .escrowed: mode = .escrowed
        case .endToEnd: mode = .endToEnd
        case .unspecified, .UNRECOGNIZED: throw Refusal(.requestInvalid, "There is no such mode of encryption.")
        }
        self.init(mode: mode, id: Array(key.id), key: key.key.isEmpty ? nil : Array(key.key))
    }
}

extension WireAccountKey {
    package init(_ key: AccountKey) {
        self.init()
        mode = key.mode == .escrowed ? .escrowed : .endToEnd
        id = Data(key.id ?? [])
        self.key = Data(key.key ?? [])
    }
}

extension WrappedZoneKey {
    package init(_ key: WireZoneKey) {
        self.init(id: Array(key.id), accountKeyID: Array(key.accountKeyID), wrapped: Array(key.wrapped))
    }
}

extension WireZoneKeys {
    package init(_ keys: [WrappedZoneKey]) {
        self.init()
        self.keys = keys.map { key in
            var wire = WireZoneKey()
            wire.id = Data(key.id)
            wire.accountKeyID = Data(key.accountKeyID)
            wire.wrapped = Data(key.wrapped)
            return wire
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
