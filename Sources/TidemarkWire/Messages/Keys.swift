// SPDX-License-Identifier: Apache-2.0
//
// Made by tidemark-wire-generator from Protos/Keys.proto. Change that, and run `make protocol`.

public import TidemarkBytes

/// Asks for the account's key and the keys of zones.
@usableFromInline
package struct WireFetchKeys: WireMessage {
    package var database = WireDatabaseScope()
    /// At most 100.
    package var zones: [WireZoneID] = []
    /// Whether the client asks again for the zones that an answer leaves out. Older clients do not: if the keys
    /// do not fit into one answer, they get LIMIT_EXCEEDED.
    package var inPages = false
    /// Whether the client may have keys from links. Then the keys of a zone of another that the server cannot
    /// hand on, because an account is END_TO_END, come as their ids alone. Older clients do not: they get a failure for
    /// such a zone.
    package var knowsLinks = false

    @usableFromInline package init() {}
}

extension WireFetchKeys {
    @usableFromInline package static var elementsInAllMax: Int { 128 }

    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 8: self.database = try reader.choice()
            case 18: try reader.append(to: &self.zones, atMost: 104)
            case 24: self.inPages = try reader.flag()
            case 32: self.knowsLinks = try reader.flag()
            default: try reader.skip(tag, known: 0x1E)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        if database != WireDatabaseScope() {
            size += 1 + WireSize.choice(database)
        }
        for value in zones {
            size += 1 + WireSize.message(value)
        }
        if inPages {
            size += 1 + WireSize.flag(inPages)
        }
        if knowsLinks {
            size += 1 + WireSize.flag(knowsLinks)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        if database != WireDatabaseScope() {
            writer.number(8)
            writer.choice(database)
        }
        for value in zones {
            writer.number(18)
            writer.message(value)
        }
        if inPages {
            writer.number(24)
            writer.flag(inPages)
        }
        if knowsLinks {
            writer.number(32)
            writer.flag(knowsLinks)
        }
    }
}

/// The account's key, and the keys of each zone or why there are none.
@usableFromInline
package struct WireFetchKeysAnswer: WireMessage {
    package var account: WireAccountKey {
        get { presentAccount ?? WireAccountKey() }
        set { presentAccount = newValue }
    }
    package var hasAccount: Bool { presentAccount != nil }
    private var presentAccount: WireAccountKey?
    /// In the order of the request. The answer has at most about 1,000 keys, and covers fewer zones if there are more,
    /// but at least one. Then ask again for the rest.
    package var zones: [WireZoneKeysResult] = []

    @usableFromInline package init() {}
}

extension WireFetchKeysAnswer {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 10:
                var value = self.presentAccount ?? WireAccountKey()
                self.presentAccount = nil
                try reader.read(&value)
                self.presentAccount = value
            case 18: try reader.append(to: &self.zones, atMost: 65_536)
            default: try reader.skip(tag, known: 0x6)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        if let presentAccount {
            size += 1 + WireSize.message(presentAccount)
        }
        for value in zones {
            size += 1 + WireSize.message(value)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        if let presentAccount {
            writer.number(10)
            writer.message(presentAccount)
        }
        for value in zones {
            writer.number(18)
            writer.message(value)
        }
    }
}

/// An account's mode, and its key if the server may have it.
@usableFromInline
package struct WireAccountKey: WireMessage {
    package var mode = WireEncryptionMode()
    /// The first 16 bytes of SHA-256("tidemark account key 1" and the key). Empty: there is none yet.
    package var id: [UInt8] = []
    /// 32 bytes. Only with ESCROWED.
    package var key: [UInt8] = []
    /// 32 bytes: the public half of the key's pair. Empty: no device has told it yet. A server takes the first one that
    /// it is told.
    package var publicKey: [UInt8] = []

    @usableFromInline package init() {}
}

extension WireAccountKey {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 8: self.mode = try reader.choice()
            case 18: self.id = try reader.content(atMost: 1_024)
            case 26: self.key = try reader.content(atMost: 1_024)
            case 34: self.publicKey = try reader.content(atMost: 1_024)
            default: try reader.skip(tag, known: 0x1E)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        if mode != WireEncryptionMode() {
            size += 1 + WireSize.choice(mode)
        }
        if !id.isEmpty {
            size += 1 + WireSize.content(id)
        }
        if !key.isEmpty {
            size += 1 + WireSize.content(key)
        }
        if !publicKey.isEmpty {
            size += 1 + WireSize.content(publicKey)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        if mode != WireEncryptionMode() {
            writer.number(8)
            writer.choice(mode)
        }
        if !id.isEmpty {
            writer.number(18)
            writer.content(id)
        }
        if !key.isEmpty {
            writer.number(26)
            writer.content(key)
        }
        if !publicKey.isEmpty {
            writer.number(34)
            writer.content(publicKey)
        }
    }
}

/// The keys of a zone, or why they cannot be had.
@usableFromInline
package struct WireZoneKeysResult: WireMessage {
    /// One of these, or none.
    package enum OneOfResult: Sendable, Equatable {
        case keys(WireZoneKeys)
        case failure(WireFailure)
    }

    package var result: OneOfResult?

    package var keys: WireZoneKeys {
        get {
            if case .keys(let value)? = result { value } else { WireZoneKeys() }
        }
        set { result = .keys(newValue) }
    }

    package var failure: WireFailure {
        get {
            if case .failure(let value)? = result { value } else { WireFailure() }
        }
        set { result = .failure(newValue) }
    }

    @usableFromInline package init() {}
}

extension WireZoneKeysResult {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 10:
                var value = self.keys
                self.result = nil
                try reader.read(&value)
                self.result = .keys(value)
            case 18:
                var value = self.failure
                self.result = nil
                try reader.read(&value)
                self.result = .failure(value)
            default: try reader.skip(tag, known: 0x6)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        switch result {
        case .keys(let value)?:
            size += 1 + WireSize.message(value)
        case .failure(let value)?:
            size += 1 + WireSize.message(value)
        case nil: break
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        switch result {
        case .keys(let value)?:
            writer.number(10)
            writer.message(value)
        case .failure(let value)?:
            writer.number(18)
            writer.message(value)
        case nil: break
        }
    }
}

/// All keys of a zone's present incarnation.
@usableFromInline
package struct WireZoneKeys: WireMessage {
    /// Oldest first; at most 100.
    package var keys: [WireZoneKey] = []
    /// In the shared database, with keys that come as their ids alone: what the owner's device has given the caller, if
    /// anything. It may lack the newest keys.
    package var given: WireGivenKeys {
        get { presentGiven ?? WireGivenKeys() }
        set { presentGiven = newValue }
    }
    package var hasGiven: Bool { presentGiven != nil }
    private var presentGiven: WireGivenKeys?

    @usableFromInline package init() {}
}

extension WireZoneKeys {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 10: try reader.append(to: &self.keys, atMost: 1_000)
            case 18:
                var value = self.presentGiven ?? WireGivenKeys()
                self.presentGiven = nil
                try reader.read(&value)
                self.presentGiven = value
            default: try reader.skip(tag, known: 0x6)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        for value in keys {
            size += 1 + WireSize.message(value)
        }
        if let presentGiven {
            size += 1 + WireSize.message(presentGiven)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        for value in keys {
            writer.number(10)
            writer.message(value)
        }
        if let presentGiven {
            writer.number(18)
            writer.message(presentGiven)
        }
    }
}

/// Keys of a zone that were given to the caller.
@usableFromInline
package struct WireGivenKeys: WireMessage {
    /// As in KeyGrant.
    package var sealed: [UInt8] = []
    /// 32 bytes: the public key of the owner's account, by whose private key it was encrypted.
    package var ownerPublicKey: [UInt8] = []
    /// The mode of the owner's account.
    package var ownerMode = WireEncryptionMode()

    @usableFromInline package init() {}
}

extension WireGivenKeys {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 10: self.sealed = try reader.content(atMost: 8_192)
            case 18: self.ownerPublicKey = try reader.content(atMost: 1_024)
            case 24: self.ownerMode = try reader.choice()
            default: try reader.skip(tag, known: 0xE)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        if !sealed.isEmpty {
            size += 1 + WireSize.content(sealed)
        }
        if !ownerPublicKey.isEmpty {
            size += 1 + WireSize.content(ownerPublicKey)
        }
        if ownerMode != WireEncryptionMode() {
            size += 1 + WireSize.choice(ownerMode)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        if !sealed.isEmpty {
            writer.number(10)
            writer.content(sealed)
        }
        if !ownerPublicKey.isEmpty {
            writer.number(18)
            writer.content(ownerPublicKey)
        }
        if ownerMode != WireEncryptionMode() {
            writer.number(24)
            writer.choice(ownerMode)
        }
    }
}

/// A zone key, wrapped by the account's key.
@usableFromInline
package struct WireZoneKey: WireMessage {
    /// 16 random bytes.
    package var id: [UInt8] = []
    /// The id of the account key that wraps it. Empty, as `wrapped`, for a key that the server cannot hand on.
    package var accountKeyID: [UInt8] = []
    /// A nonce of 12 random bytes, then the key encrypted with AES-256-GCM: 32 bytes and the tag of 16. The additional
    /// authenticated data, written as for values, are: "tidemark zone key 1", the container's identifier, the zone's
    /// name, and the zone key's id.
    package var wrapped: [UInt8] = []

    @usableFromInline package init() {}
}

extension WireZoneKey {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 10: self.id = try reader.content(atMost: 1_024)
            case 18: self.accountKeyID = try reader.content(atMost: 1_024)
            case 26: self.wrapped = try reader.content(atMost: 1_024)
            default: try reader.skip(tag, known: 0xE)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        if !id.isEmpty {
            size += 1 + WireSize.content(id)
        }
        if !accountKeyID.isEmpty {
            size += 1 + WireSize.content(accountKeyID)
        }
        if !wrapped.isEmpty {
            size += 1 + WireSize.content(wrapped)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        if !id.isEmpty {
            writer.number(10)
            writer.content(id)
        }
        if !accountKeyID.isEmpty {
            writer.number(18)
            writer.content(accountKeyID)
        }
        if !wrapped.isEmpty {
            writer.number(26)
            writer.content(wrapped)
        }
    }
}

/// Gives the account a key, if it has none. If several devices do so at the same time, the first key counts. A public
/// key is taken for the key with that id, if there is none yet.
@usableFromInline
package struct WireSaveAccountKey: WireMessage {
    /// With `key` if the mode is ESCROWED, without it if it is END_TO_END. Refused if the account has another mode.
    package var account: WireAccountKey {
        get { presentAccount ?? WireAccountKey() }
        set { presentAccount = newValue }
    }
    package var hasAccount: Bool { presentAccount != nil }
    private var presentAccount: WireAccountKey?

    @usableFromInline package init() {}
}

extension WireSaveAccountKey {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 10:
                var value = self.presentAccount ?? WireAccountKey()
                self.presentAccount = nil
                try reader.read(&value)
                self.presentAccount = value
            default: try reader.skip(tag, known: 0x2)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        if let presentAccount {
            size += 1 + WireSize.message(presentAccount)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        if let presentAccount {
            writer.number(10)
            writer.message(presentAccount)
        }
    }
}

/// The account's key after a SaveAccountKey.
@usableFromInline
package struct WireSaveAccountKeyAnswer: WireMessage {
    /// The key that counts: the caller's, or the one that the account already had.
    package var account: WireAccountKey {
        get { presentAccount ?? WireAccountKey() }
        set { presentAccount = newValue }
    }
    package var hasAccount: Bool { presentAccount != nil }
    private var presentAccount: WireAccountKey?

    @usableFromInline package init() {}
}

extension WireSaveAccountKeyAnswer {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 10:
                var value = self.presentAccount ?? WireAccountKey()
                self.presentAccount = nil
                try reader.read(&value)
                self.presentAccount = value
            default: try reader.skip(tag, known: 0x2)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        if let presentAccount {
            size += 1 + WireSize.message(presentAccount)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        if let presentAccount {
            writer.number(10)
            writer.message(presentAccount)
        }
    }
}

/// Gives a zone a new key, if its newest key is still `newest_id`. Otherwise nothing is saved.
@usableFromInline
package struct WireSaveZoneKey: WireMessage {
    package var database = WireDatabaseScope()
    package var zone: WireZoneID {
        get { presentZone ?? WireZoneID() }
        set { presentZone = newValue }
    }
    package var hasZone: Bool { presentZone != nil }
    private var presentZone: WireZoneID?
    package var key: WireZoneKey {
        get { presentKey ?? WireZoneKey() }
        set { presentKey = newValue }
    }
    package var hasKey: Bool { presentKey != nil }
    private var presentKey: WireZoneKey?
    /// The id of the newest key that the device knows. Empty: the zone has none.
    package var newestID: [UInt8] = []
    /// Whether nothing more is encrypted with the older keys from now on. In the private database alone. Older
    /// servers do not know it, and go on to accept such values.
    package var retiresOlder = false

    @usableFromInline package init() {}
}

extension WireSaveZoneKey {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 8: self.database = try reader.choice()
            case 18:
                var value = self.presentZone ?? WireZoneID()
                self.presentZone = nil
                try reader.read(&value)
                self.presentZone = value
            case 26:
                var value = self.presentKey ?? WireZoneKey()
                self.presentKey = nil
                try reader.read(&value)
                self.presentKey = value
            case 34: self.newestID = try reader.content(atMost: 1_024)
            case 40: self.retiresOlder = try reader.flag()
            default: try reader.skip(tag, known: 0x3E)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        if database != WireDatabaseScope() {
            size += 1 + WireSize.choice(database)
        }
        if let presentZone {
            size += 1 + WireSize.message(presentZone)
        }
        if let presentKey {
            size += 1 + WireSize.message(presentKey)
        }
        if !newestID.isEmpty {
            size += 1 + WireSize.content(newestID)
        }
        if retiresOlder {
            size += 1 + WireSize.flag(retiresOlder)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        if database != WireDatabaseScope() {
            writer.number(8)
            writer.choice(database)
        }
        if let presentZone {
            writer.number(18)
            writer.message(presentZone)
        }
        if let presentKey {
            writer.number(26)
            writer.message(presentKey)
        }
        if !newestID.isEmpty {
            writer.number(34)
            writer.content(newestID)
        }
        if retiresOlder {
            writer.number(40)
            writer.flag(retiresOlder)
        }
    }
}

/// The zone's keys after a SaveZoneKey.
@usableFromInline
package struct WireSaveZoneKeyAnswer: WireMessage {
    /// The keys as they are now.
    package var keys: WireZoneKeys {
        get { presentKeys ?? WireZoneKeys() }
        set { presentKeys = newValue }
    }
    package var hasKeys: Bool { presentKeys != nil }
    private var presentKeys: WireZoneKeys?

    @usableFromInline package init() {}
}

extension WireSaveZoneKeyAnswer {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 10:
                var value = self.presentKeys ?? WireZoneKeys()
                self.presentKeys = nil
                try reader.read(&value)
                self.presentKeys = value
            default: try reader.skip(tag, known: 0x2)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        if let presentKeys {
            size += 1 + WireSize.message(presentKeys)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        if let presentKeys {
            writer.number(10)
            writer.message(presentKeys)
        }
    }
}

/// Gives keys of a zone of the private database to accounts with which it is shared, and asks who lacks keys.
@usableFromInline
package struct WireGrantKeys: WireMessage {
    package var zone: WireZoneID {
        get { presentZone ?? WireZoneID() }
        set { presentZone = newValue }
    }
    package var hasZone: Bool { presentZone != nil }
    private var presentZone: WireZoneID?
    /// At most 50. Those are skipped that the zone's newest key or the account's public key does not fit, and those to
    /// accounts with which the zone is not shared (any more).
    package var grants: [WireKeyGrant] = []
    /// The answer's `next`, to go on. Empty: from the beginning.
    package var after: [UInt8] = []

    @usableFromInline package init() {}
}

extension WireGrantKeys {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 10:
                var value = self.presentZone ?? WireZoneID()
                self.presentZone = nil
                try reader.read(&value)
                self.presentZone = value
            case 18: try reader.append(to: &self.grants, atMost: 104)
            case 26: self.after = try reader.content(atMost: 1_024)
            default: try reader.skip(tag, known: 0xE)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        if let presentZone {
            size += 1 + WireSize.message(presentZone)
        }
        for value in grants {
            size += 1 + WireSize.message(value)
        }
        if !after.isEmpty {
            size += 1 + WireSize.content(after)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        if let presentZone {
            writer.number(10)
            writer.message(presentZone)
        }
        for value in grants {
            writer.number(18)
            writer.message(value)
        }
        if !after.isEmpty {
            writer.number(26)
            writer.content(after)
        }
    }
}

/// The keys of a zone for one account. It takes the place of what the account was given before.
@usableFromInline
package struct WireKeyGrant: WireMessage {
    /// The record name of the user.
    package var user = ""
    /// The account's public key, to which it is encrypted.
    package var publicKey: [UInt8] = []
    /// The id of the newest key in it.
    package var newestID: [UInt8] = []
    /// How many keys the zone had.
    package var keyCount: UInt32 = 0
    /// For each key, oldest first, its id of 16 bytes and its 32 bytes, encrypted by HPKE (RFC 9180): auth mode,
    /// DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, AES-256-GCM. 32 bytes of the encapsulated key, then the ciphertext with
    /// its tag. `info` is, written as additional data of values: "tidemark key grant 1", the container's identifier,
    /// the zone's name, and the record names of owner and user.
    package var sealed: [UInt8] = []

    @usableFromInline package init() {}
}

extension WireKeyGrant {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 10: self.user = try reader.text(atMost: 1_024)
            case 18: self.publicKey = try reader.content(atMost: 1_024)
            case 26: self.newestID = try reader.content(atMost: 1_024)
            case 32: self.keyCount = try reader.uint32()
            case 42: self.sealed = try reader.content(atMost: 8_192)
            default: try reader.skip(tag, known: 0x3E)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        if !user.isEmpty {
            size += 1 + WireSize.text(user)
        }
        if !publicKey.isEmpty {
            size += 1 + WireSize.content(publicKey)
        }
        if !newestID.isEmpty {
            size += 1 + WireSize.content(newestID)
        }
        if keyCount != 0 {
            size += 1 + WireSize.uint32(keyCount)
        }
        if !sealed.isEmpty {
            size += 1 + WireSize.content(sealed)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        if !user.isEmpty {
            writer.number(10)
            writer.text(user)
        }
        if !publicKey.isEmpty {
            writer.number(18)
            writer.content(publicKey)
        }
        if !newestID.isEmpty {
            writer.number(26)
            writer.content(newestID)
        }
        if keyCount != 0 {
            writer.number(32)
            writer.uint32(keyCount)
        }
        if !sealed.isEmpty {
            writer.number(42)
            writer.content(sealed)
        }
    }
}

/// Accounts that lack keys of a zone, after a GrantKeys.
@usableFromInline
package struct WireGrantKeysAnswer: WireMessage {
    package var readers: [WireKeyReader] = []
    /// Where to go on. Empty: these were the last ones.
    package var next: [UInt8] = []

    @usableFromInline package init() {}
}

extension WireGrantKeysAnswer {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 10: try reader.append(to: &self.readers, atMost: 1_000)
            case 18: self.next = try reader.content(atMost: 1_024)
            default: try reader.skip(tag, known: 0x6)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        for value in readers {
            size += 1 + WireSize.message(value)
        }
        if !next.isEmpty {
            size += 1 + WireSize.content(next)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        for value in readers {
            writer.number(10)
            writer.message(value)
        }
        if !next.isEmpty {
            writer.number(18)
            writer.content(next)
        }
    }
}

/// An account with which a zone is shared, by an invitation, and which was not given all of its keys.
@usableFromInline
package struct WireKeyReader: WireMessage {
    /// The record name of the user.
    package var user = ""
    package var mode = WireEncryptionMode()
    /// Empty: none of the account's devices has told it yet.
    package var publicKey: [UInt8] = []

    @usableFromInline package init() {}
}

extension WireKeyReader {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 10: self.user = try reader.text(atMost: 1_024)
            case 16: self.mode = try reader.choice()
            case 26: self.publicKey = try reader.content(atMost: 1_024)
            default: try reader.skip(tag, known: 0xE)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        if !user.isEmpty {
            size += 1 + WireSize.text(user)
        }
        if mode != WireEncryptionMode() {
            size += 1 + WireSize.choice(mode)
        }
        if !publicKey.isEmpty {
            size += 1 + WireSize.content(publicKey)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        if !user.isEmpty {
            writer.number(10)
            writer.text(user)
        }
        if mode != WireEncryptionMode() {
            writer.number(16)
            writer.choice(mode)
        }
        if !publicKey.isEmpty {
            writer.number(26)
            writer.content(publicKey)
        }
    }
}

/// How an account's key reaches its devices. The server's operator chooses, before there is a key.
@usableFromInline
package enum WireEncryptionMode: WireChoice {
    case unspecified
    /// The server keeps the key and gives it to the account's devices.
    case escrowed
    /// The server never has the key. People carry it from device to device as a recovery key.
    case endToEnd
    /// A value that this version does not know.
    case unrecognized(Int32)

    @usableFromInline package init() { self = .unspecified }

    @usableFromInline
    package init(rawValue: Int32) {
        switch rawValue {
        case 0: self = .unspecified
        case 1: self = .escrowed
        case 2: self = .endToEnd
        default: self = .unrecognized(rawValue)
        }
    }

    @usableFromInline
    package var rawValue: Int32 {
        switch self {
        case .unspecified: 0
        case .escrowed: 1
        case .endToEnd: 2
        case .unrecognized(let number): number
        }
    }
}
