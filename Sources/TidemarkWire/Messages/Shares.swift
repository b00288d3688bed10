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
    /// Whether somebody with the URL who is not invited may ask for access. UNSPECIFIED: as now, in a new share they
    /// may not. Servers that do not know it leave it as it is: what they show of the share afterwards says so.
    package var accessRequests = WireAccessRequestsChoice()
    /// Record names of users whose requests for access are refused. They may ask again.
    package var denied: [String] = []
    /// Record names of users who may not ask any more, and take no part.
    package var blocked: [String] = []
    /// Record names of users who may ask again.
    package var unblocked: [String] = []
    /// Of the share of a hierarchy: the name of its root record in the same zone. It counts in the first save, which
    /// has the root too. Later it is the same, or empty. Empty in a first save: the share of the whole zone.
    /// Older servers refuse a hierarchy by the name of its CKShare record.
    package var root = ""

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
            case 32: self.accessRequests = try reader.choice()
            case 42: try reader.append(to: &self.denied, atMost: 512, bytesMax: 4_096)
            case 50: try reader.append(to: &self.blocked, atMost: 512, bytesMax: 4_096)
            case 58: try reader.append(to: &self.unblocked, atMost: 512, bytesMax: 4_096)
            case 66: self.root = try reader.text(atMost: 65_536)
            default: try reader.skip(tag, known: 0x1FE)
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
        if accessRequests != WireAccessRequestsChoice() {
            size += 1 + WireSize.choice(accessRequests)
        }
        for value in denied {
            size += 1 + WireSize.text(value)
        }
        for value in blocked {
            size += 1 + WireSize.text(value)
        }
        for value in unblocked {
            size += 1 + WireSize.text(value)
        }
        if !root.isEmpty {
            size += 1 + WireSize.text(root)
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
        if accessRequests != WireAccessRequestsChoice() {
            writer.number(32)
            writer.choice(accessRequests)
        }
        for value in denied {
            writer.number(42)
            writer.text(value)
        }
        for value in blocked {
            writer.number(50)
            writer.text(value)
        }
        for value in unblocked {
            writer.number(58)
            writer.text(value)
        }
        if !root.isEmpty {
            writer.number(66)
            writer.text(root)
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
    /// Instead of a person: whoever comes first with the participant's one-time link. Older servers refuse such a
    /// participant, because it names nobody.
    package var byLink = false

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
            case 56: self.byLink = try reader.flag()
            default: try reader.skip(tag, known: 0xFE)
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
        if byLink {
            size += 1 + WireSize.flag(byLink)
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
        if byLink {
            writer.number(56)
            writer.flag(byLink)
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
    /// Whether somebody with the URL who is not invited may ask for access. For owner and administrators only, as what
    /// follows.
    package var allowsAccessRequests = false
    /// Who has asked, and waits for an answer.
    package var requesters: [WireAccessRequester] = []
    /// Who may not ask any more.
    package var blocked: [WireAccessRequester] = []
    /// Of the share of a hierarchy: the name of its root record in the same zone. Empty: the share of the whole zone.
    package var root = ""

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
            case 32: self.allowsAccessRequests = try reader.flag()
            case 42: try reader.append(to: &self.requesters, atMost: 1_000)
            case 50: try reader.append(to: &self.blocked, atMost: 1_000)
            case 58: self.root = try reader.text(atMost: 65_536)
            default: try reader.skip(tag, known: 0xFE)
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
        if allowsAccessRequests {
            size += 1 + WireSize.flag(allowsAccessRequests)
        }
        for value in requesters {
            size += 1 + WireSize.message(value)
        }
        for value in blocked {
            size += 1 + WireSize.message(value)
        }
        if !root.isEmpty {
            size += 1 + WireSize.text(root)
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
        if allowsAccessRequests {
            writer.number(32)
            writer.flag(allowsAccessRequests)
        }
        for value in requesters {
            writer.number(42)
            writer.message(value)
        }
        for value in blocked {
            writer.number(50)
            writer.message(value)
        }
        if !root.isEmpty {
            writer.number(58)
            writer.text(root)
        }
    }
}

/// Somebody who has asked for access to a share, or may not ask any more.
@usableFromInline
package struct WireAccessRequester: WireMessage {
    /// The user's record name.
    package var user = ""
    /// The person's name. Empty: there is none.
    package var givenName = ""
    package var familyName = ""

    @usableFromInline package init() {}
}

extension WireAccessRequester {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 10: self.user = try reader.text(atMost: 65_536)
            case 18: self.givenName = try reader.text(atMost: 1_024)
            case 26: self.familyName = try reader.text(atMost: 1_024)
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
        if !user.isEmpty {
            writer.number(10)
            writer.text(user)
        }
        if !givenName.isEmpty {
            writer.number(18)
            writer.text(givenName)
        }
        if !familyName.isEmpty {
            writer.number(26)
            writer.text(familyName)
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
    /// What the participant's one-time URL has after its last slash. For owner and administrators only. Empty: the
    /// participant was not invited by such a link.
    package var link = ""
    /// When the participant was added: milliseconds since 1970. 0: not said, as for the owner and by an older server.
    package var addedAt: Int64 = 0
    /// Whether the person had asked for access when they were invited.
    package var isApprovedRequester = false

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
            case 106: self.link = try reader.text(atMost: 1_024)
            case 112: self.addedAt = try reader.int64()
            case 120: self.isApprovedRequester = try reader.flag()
            default: try reader.skip(tag, known: 0xF9FE)
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
        if !link.isEmpty {
            size += 1 + WireSize.text(link)
        }
        if addedAt != 0 {
            size += 1 + WireSize.int64(addedAt)
        }
        if isApprovedRequester {
            size += 1 + WireSize.flag(isApprovedRequester)
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
        if !link.isEmpty {
            writer.number(106)
            writer.text(link)
        }
        if addedAt != 0 {
            writer.number(112)
            writer.int64(addedAt)
        }
        if isApprovedRequester {
            writer.number(120)
            writer.flag(isApprovedRequester)
        }
    }
}

/// Whether somebody who is not invited may ask for access to a share.
@usableFromInline
package enum WireAccessRequestsChoice: WireChoice {
    case unspecified
    case requestsRefused
    case requestsAllowed
    /// A value that this version does not know.
    case unrecognized(Int32)

    @usableFromInline package init() { self = .unspecified }

    @usableFromInline
    package init(rawValue: Int32) {
        switch rawValue {
        case 0: self = .unspecified
        case 1: self = .requestsRefused
        case 2: self = .requestsAllowed
        default: self = .unrecognized(rawValue)
        }
    }

    @usableFromInline
    package var rawValue: Int32 {
        switch self {
        case .unspecified: 0
        case .requestsRefused: 1
        case .requestsAllowed: 2
        case .unrecognized(let number): number
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
