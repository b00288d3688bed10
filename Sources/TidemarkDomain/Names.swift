// SPDX-License-Identifier: Apache-2.0

/// The strings that can name a zone.
package enum ZoneName {
    /// The zone that every public and private database has from the beginning. It has no capabilities
    /// no feed, no atomic batches, no shares.
    package static let `default` = "_defaultZone"

    /// Whether a zone can have this name: the default zone's, or printable ASCII that does not begin with `_`.
    package static func isValid(_ name: String, limits: Limits) -> Bool {
        name == `default` || Names.isValid(name, limits: limits)
    }
}

/// The strings that can name an app's record.
package enum RecordName {
    /// Printable ASCII that does not begin with `_`. No other string is ever stored, so a lookup of another one can be
    /// skipped.
    package static func isValid(_ name: String, limits: Limits) -> Bool {
        Names.isValid(name, limits: limits)
    }

    /// Whether the name has the form of a user record's name: `_` and 32 hexadecimal digits. Such
    /// records are in default zones, and only their users save them.
    package static func isUser(_ name: String) -> Bool {
        let bytes = name.utf8
        guard bytes.first == 0x5F, bytes.count == 33 else { return false }
        return bytes.dropFirst().allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }

    /// Whether a record can have that name, be it an app's record or a user's.
    package static func canBeStored(_ name: String, limits: Limits) -> Bool {
        isValid(name, limits: limits) || isUser(name)
    }
}

/// The strings that can be the type of an app's record.
package enum RecordType {
    /// The type of user records. The server makes one record for each user.
    package static let users = "Users"

    /// A letter, then letters, digits and underscores; not a built-in type.
    package static func isValid(_ type: String, limits: Limits) -> Bool {
        let bytes = type.utf8
        guard let first = bytes.first, isLetter(first), bytes.count <= limits.nameCharactersMax else { return false }
        return type != users && bytes.allSatisfy { isLetter($0) || (0x30...0x39).contains($0) || $0 == 0x5F }
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (0x61...0x7A).contains(byte | 0x20)
    }
}

enum Names {
    static func isValid(_ name: String, limits: Limits) -> Bool {
        let bytes = name.utf8
        guard let first = bytes.first, first != 0x5F, bytes.count <= limits.nameCharactersMax else { return false }
        return bytes.allSatisfy { (0x20...0x7E).contains($0) }
    }
}
