// SPDX-License-Identifier: Apache-2.0

internal import TidemarkFields

/// The keys of a zone for one account, encrypted by a device of the owner. No server can open them.
package struct KeyGrant: Sendable, Equatable {
    /// The ephemeral key, the tag, and a key with its id.
    package static let sealedByteCountMin = 48 + 48
    /// The same with 100 keys, the number that a device keeps of a zone.
    package static let sealedByteCountMax = 48 + 100 * 48
    /// How many a device brings in one request, and of how many accounts it hears in the answer. With as many keys as a zone can have,
    /// such a request has 250 KB.
    package static let pageMax = 50

    /// The user who gets the keys.
    package let user: UserID
    /// The public key of that account, to which they are encrypted.
    package let publicKey: [UInt8]
    /// The newest key of the zone that is among them.
    package let newestID: [UInt8]
    /// How many keys the zone had then.
    package let keyCount: Int
    package let sealed: [UInt8]

    package init(user: UserID, publicKey: [UInt8], newestID: [UInt8], keyCount: Int, sealed: [UInt8]) {
        self.user = user
        self.publicKey = publicKey
        self.newestID = newestID
        self.keyCount = keyCount
        self.sealed = sealed
    }

    /// Why it is refused, whatever is stored; nil if it is not.
    package var refusal: FailureReason? {
        let isFit =
            publicKey.count == AccountKey.publicKeyByteCount && newestID.count == SealedValue.keyIDByteCount
            && (1...Int(Int32.max)).contains(keyCount)
            && (Self.sealedByteCountMin...Self.sealedByteCountMax).contains(sealed.count)
        return isFit ? nil : .requestInvalid
    }

    /// Whether it may be stored now: for somebody with whom the zone is shared, for the account's present key, with the zone's
    /// newest key, and with no fewer keys than were given before.
    package func fits(_ reader: KeyReader?, of keys: ZoneKeyCount) -> Bool {
        guard let reader, reader.user == user, reader.publicKey == publicKey, keys.newestID == newestID else {
            return false
        }
        guard let granted = reader.granted, granted.publicKey == publicKey, granted.newestID == newestID else {
            return true
        }
        // An import has added older keys, of which the device that made this one did not know.
        return granted.keyCount <= keyCount
    }
}

/// The numbers of a zone's keys that show whether a grant has all of them.
package struct ZoneKeyCount: Sendable, Equatable {
    package let count: Int
    /// Nil if there is none.
    package let newestID: [UInt8]?

    package init(count: Int, newestID: [UInt8]?) {
        self.count = count
        self.newestID = newestID
    }
}

/// An account with which a zone is shared by an invitation, and the zone's keys that it was given.
package struct KeyReader: Sendable, Equatable {
    package let user: UserID
    package let recordName: String
    package let mode: EncryptionMode
    /// Nil if none of the account's devices has told it yet.
    package let publicKey: [UInt8]?
    package let granted: Granted?

    /// The data in a stored grant.
    package struct Granted: Sendable, Equatable {
        package let publicKey: [UInt8]
        package let newestID: [UInt8]
        package let keyCount: Int

        package init(publicKey: [UInt8], newestID: [UInt8], keyCount: Int) {
            self.publicKey = publicKey
            self.newestID = newestID
            self.keyCount = keyCount
        }
    }

    package init(
        user: UserID, recordName: String, mode: EncryptionMode, publicKey: [UInt8]?, granted: Granted?
    ) {
        self.user = user
        self.recordName = recordName
        self.mode = mode
        self.publicKey = publicKey
        self.granted = granted
    }

    /// Whether the account was not given all of the zone's keys. An account whose key was made again cannot open its grant.
    package func lacks(_ keys: ZoneKeyCount) -> Bool {
        guard let granted, granted.publicKey == publicKey else { return true }
        return granted.newestID != keys.newestID || granted.keyCount < keys.count
    }
}

/// A part of a zone's readers, in the order of their users.
package struct KeyReadersPage: Sendable, Equatable {
    package let keys: ZoneKeyCount
    package let readers: [KeyReader]
    /// Where to go on; nil: these were the last ones.
    package let last: UserID?

    package init(keys: ZoneKeyCount, readers: [KeyReader], last: UserID?) {
        self.keys = keys
        self.readers = readers
        self.last = last
    }
}

/// The keys that an owner's device gave a reader of a zone, as the reader gets them.
package struct GivenKeys: Sendable, Equatable {
    package let sealed: [UInt8]
    /// The public key of the owner's account.
    package let ownerPublicKey: [UInt8]
    package let ownerMode: EncryptionMode

    package init(sealed: [UInt8], ownerPublicKey: [UInt8], ownerMode: EncryptionMode) {
        self.sealed = sealed
        self.ownerPublicKey = ownerPublicKey
        self.ownerMode = ownerMode
    }
}

extension Participant {
    /// Whether owners' devices give the participant the zone's keys. They do so for each person who was invited, from the
    /// invitation on if the account is known by then. A person who joins by a public URL has the keys from that URL, or not at all.
    package func isKeyReader(in share: Share) -> Bool {
        share.isLiving && isLiving && user != nil && role != .publicUser && permission(in: share) != .noAccess
    }
}

extension ZoneSharing {
    /// The users to whom owners' devices give the zone's keys, in the order of their numbers.
    package var keyReaders: [UserID] {
        var users: Set<UserID> = []
        for share in livingShares {
            for row in participants[share.number, default: [:]].values where row.isKeyReader(in: share) {
                if let user = row.user { users.insert(user) }
            }
        }
        return users.sorted { $0.rawValue < $1.rawValue }
    }
}
