// SPDX-License-Identifier: Apache-2.0
//
// Made by tidemark-wire-generator from Protos/Shares.proto. Change that, and run `make protocol`.

public import TidemarkBytes

/// What a save of a CKShare record says of the share, beside the fields of the record.
@usableFromInline
package struct WireShareSave: WireMessage {
    /// What everybody with the URL may do. UNSPECIFIED: as now, in a new share nothing.
    package var publicPermission = WireSharePermission()
    /// All who are to take part, without the owner, at most 99. Whoever is left out is removed.
    package var participants: [WireParticipantSave] = []
    /// Whether `participants` counts. Without it everybody stays.
    package var setsParticipants = false

    @usableFromInline package init() {}
}

extension WireShareSave {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 8: self.publicPermission = try reader.choice()
            case 18: try reader.append(to: &self.participants, atMost: 256)
            case 24: self.setsParticipants = try reader.flag()
            default: try reader.skip(tag, known: 0xE)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        if publicPermission != WireSharePermission() {
            size += 1 + WireSize.choice(publicPermission)
        }
        for value in participants {
            size += 1 + WireSize.message(value)
        }
        if setsParticipants {
            size += 1 + WireSize.flag(setsParticipants)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        if publicPermission != WireSharePermission() {
            writer.number(8)
            writer.choice(publicPermission)
        }
        for value in participants {
            writer.number(18)
            writer.message(value)
        }
        if setsParticipants {
            writer.number(24)
            writer.flag(setsParticipants)
        }
    }
}

/// One participant of a ShareSave.
@usableFromInline
package struct WireParticipantSave: WireMessage {
    /// 16 bytes: the ID that the share has, or new random ones.
    package var id: [UInt8] = []
    /// Whom to invite, if the share has no participant with the ID: a user's record name, an e-mail address or a
    /// telephone number.
    package var user = ""
    package var email = ""
    package var phone = ""
    package var role = WireParticipantRole()
    package var permission = WireSharePermission()

    @usableFromInline package init() {}
}

extension WireParticipantSave {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 10: self.id = try reader.content(atMost: 1_024)
            case 18: self.user = try reader.text(atMost: 4_096)
            case 26: self.email = try reader.text(atMost: 4_096)
            case 34: self.phone = try reader.text(atMost: 4_096)
            case 40: self.role = try reader.choice()
            case 48: self.permission = try reader.choice()
            default: try reader.skip(tag, known: 0x7E)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        if !id.isEmpty {
            size += 1 + WireSize.content(id)
        }
        if !user.isEmpty {
            size += 1 + WireSize.text(user)
        }
        if !email.isEmpty {
            size += 1 + WireSize.text(email)
        }
        if !phone.isEmpty {
            size += 1 + WireSize.text(phone)
        }
        if role != WireParticipantRole() {
            size += 1 + WireSize.choice(role)
        }
        if permission != WireSharePermission() {
            size += 1 + WireSize.choice(permission)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        if !id.isEmpty {
            writer.number(10)
            writer.content(id)
        }
        if !user.isEmpty {
            writer.number(18)
            writer.text(user)
        }
        if !email.isEmpty {
            writer.number(26)
            writer.text(email)
        }
        if !phone.isEmpty {
            writer.number(34)
            writer.text(phone)
        }
        if role != WireParticipantRole() {
            writer.number(40)
            writer.choice(role)
        }
        if permission != WireSharePermission() {
            writer.number(48)
            writer.choice(permission)
        }
    }
}

/// A share as the server shows it to one user. It comes with the CKShare record.
@usableFromInline
package struct WireShare: WireMessage {
    package var publicPermission = WireSharePermission()
    /// The owner first, then those others whom the caller may see.
    package var participants: [WireParticipant] = []
    /// What the URL has after its last slash. The server puts nothing else into URLs: the app's own server is asked,
    /// never the host of a URL that somebody sent.
    package var link = ""

    @usableFromInline package init() {}
}

extension WireShare {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 8: self.publicPermission = try reader.choice()
            case 18: try reader.append(to: &self.participants, atMost: 1_000)
            case 26: self.link = try reader.text(atMost: 1_024)
            default: try reader.skip(tag, known: 0xE)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        if publicPermission != WireSharePermission() {
            size += 1 + WireSize.choice(publicPermission)
        }
        for value in participants {
            size += 1 + WireSize.message(value)
        }
        if !link.isEmpty {
            size += 1 + WireSize.text(link)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        if publicPermission != WireSharePermission() {
            writer.number(8)
            writer.choice(publicPermission)
        }
        for value in participants {
            writer.number(18)
            writer.message(value)
        }
        if !link.isEmpty {
            writer.number(26)
            writer.text(link)
        }
    }
}

/// A participant of a share as the server shows it to one user.
@usableFromInline
package struct WireParticipant: WireMessage {
    /// 16 bytes. The owner's are zero.
    package var id: [UInt8] = []
    /// The user's record name. Empty: nobody has taken the invitation yet, or the caller (`is_caller`).
    package var user = ""
    package var isCaller = false
    /// The address that was invited. For owner and administrators only.
    package var email = ""
    package var phone = ""
    package var role = WireParticipantRole()
    package var permission = WireSharePermission()
    package var status = WireParticipantStatus()
    /// The person's name, of the owner and of who has accepted. Empty: there is none, or an older server.
    package var givenName = ""
    package var familyName = ""

    @usableFromInline package init() {}
}

extension WireParticipant {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 10: self.id = try reader.content(atMost: 1_024)
            case 18: self.user = try reader.text(atMost: 65_536)
            case 24: self.isCaller = try reader.flag()
            case 34: self.email = try reader.text(atMost: 65_536)
            case 42: self.phone = try reader.text(atMost: 65_536)
            case 48: self.role = try reader.choice()
            case 56: self.permission = try reader.choice()
            case 64: self.status = try reader.choice()
            case 90: self.givenName = try reader.text(atMost: 1_024)
            case 98: self.familyName = try reader.text(atMost: 1_024)
            default: try reader.skip(tag, known: 0x19FE)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        if !id.isEmpty {
            size += 1 + WireSize.content(id)
        }
        if !user.isEmpty {
            size += 1 + WireSize.text(user)
        }
        if isCaller {
            size += 1 + WireSize.flag(isCaller)
        }
        if !email.isEmpty {
            size += 1 + WireSize.text(email)
        }
        if !phone.isEmpty {
            size += 1 + WireSize.text(phone)
        }
        if role != WireParticipantRole() {
            size += 1 + WireSize.choice(role)
        }
        if permission != WireSharePermission() {
            size += 1 + WireSize.choice(permission)
        }
        if status != WireParticipantStatus() {
            size += 1 + WireSize.choice(status)
        }
        if !givenName.isEmpty {
            size += 1 + WireSize.text(givenName)
        }
        if !familyName.isEmpty {
            size += 1 + WireSize.text(familyName)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        if !id.isEmpty {
            writer.number(10)
            writer.content(id)
        }
        if !user.isEmpty {
            writer.number(18)
            writer.text(user)
        }
        if isCaller {
            writer.number(24)
            writer.flag(isCaller)
        }
        if !email.isEmpty {
            writer.number(34)
            writer.text(email)
        }
        if !phone.isEmpty {
            writer.number(42)
            writer.text(phone)
        }
        if role != WireParticipantRole() {
            writer.number(48)
            writer.choice(role)
        }
        if permission != WireSharePermission() {
            writer.number(56)
            writer.choice(permission)
        }
        if status != WireParticipantStatus() {
            writer.number(64)
            writer.choice(status)
        }
        if !givenName.isEmpty {
            writer.number(90)
            writer.text(givenName)
        }
        if !familyName.isEmpty {
            writer.number(98)
            writer.text(familyName)
        }
    }
}

/// What a participant may do, or everybody with the URL. Numbers are CloudKit's.
@usableFromInline
package enum WireSharePermission: WireChoice {
    case unspecified
    case noAccess
    case readOnly
    case readWrite
    /// A value that this version does not know.
    case unrecognized(Int32)

    @usableFromInline package init() { self = .unspecified }

    @usableFromInline
    package init(rawValue: Int32) {
        switch rawValue {
        case 0: self = .unspecified
        case 1: self = .noAccess
        case 2: self = .readOnly
        case 3: self = .readWrite
        default: self = .unrecognized(rawValue)
        }
    }

    @usableFromInline
    package var rawValue: Int32 {
        switch self {
        case .unspecified: 0
        case .noAccess: 1
        case .readOnly: 2
        case .readWrite: 3
        case .unrecognized(let number): number
        }
    }
}

/// Numbers are CloudKit's.
@usableFromInline
package enum WireParticipantRole: WireChoice {
    case unspecified
    case owner
    case administrator
    case privateUser
    case publicUser
    /// A value that this version does not know.
    case unrecognized(Int32)

    @usableFromInline package init() { self = .unspecified }

    @usableFromInline
    package init(rawValue: Int32) {
        switch rawValue {
        case 0: self = .unspecified
        case 1: self = .owner
        case 2: self = .administrator
        case 3: self = .privateUser
        case 4: self = .publicUser
        default: self = .unrecognized(rawValue)
        }
    }

    @usableFromInline
    package var rawValue: Int32 {
        switch self {
        case .unspecified: 0
        case .owner: 1
        case .administrator: 2
        case .privateUser: 3
        case .publicUser: 4
        case .unrecognized(let number): number
        }
    }
}

/// Numbers are CloudKit's.
@usableFromInline
package enum WireParticipantStatus: WireChoice {
    case unspecified
    case pending
    case accepted
    case removed
    /// A value that this version does not know.
    case unrecognized(Int32)

    @usableFromInline package init() { self = .unspecified }

    @usableFromInline
    package init(rawValue: Int32) {
        switch rawValue {
        case 0: self = .unspecified
        case 1: self = .pending
        case 2: self = .accepted
        case 3: self = .removed
        default: self = .unrecognized(rawValue)
        }
    }

    @usableFromInline
    package var rawValue: Int32 {
        switch self {
        case .unspecified: 0
        case .pending: 1
        case .accepted: 2
        case .removed: 3
        case .unrecognized(let number): number
        }
    }
}
