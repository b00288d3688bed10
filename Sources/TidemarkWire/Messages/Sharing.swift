// SPDX-License-Identifier: Apache-2.0
//
// Made by tidemark-wire-generator from Protos/Sharing.proto. Change that, and run `make protocol`.

public import TidemarkBytes

/// Asks what links lead to.
@usableFromInline
package struct WireFetchShareMetadata: WireMessage {
    /// The part of each URL after its last slash.
    package var links: [String] = []
    /// Whether the root records of hierarchies are wanted too. Older servers send none.
    package var wantsRoots = false
    /// Which keys of the roots.
    package var rootKeys: WireDesiredKeys {
        get { presentRootKeys ?? WireDesiredKeys() }
        set { presentRootKeys = newValue }
    }
    package var hasRootKeys: Bool { presentRootKeys != nil }
    private var presentRootKeys: WireDesiredKeys?

    @usableFromInline package init() {}
}

extension WireFetchShareMetadata {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 10: try reader.append(to: &self.links, atMost: 100, bytesMax: 1_024)
            case 16: self.wantsRoots = try reader.flag()
            case 26:
                var value = self.presentRootKeys ?? WireDesiredKeys()
                self.presentRootKeys = nil
                try reader.read(&value)
                self.presentRootKeys = value
            default: try reader.skip(tag, known: 0xE)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        for value in links {
            size += 1 + WireSize.text(value)
        }
        if wantsRoots {
            size += 1 + WireSize.flag(wantsRoots)
        }
        if let presentRootKeys {
            size += 1 + WireSize.message(presentRootKeys)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        for value in links {
            writer.number(10)
            writer.text(value)
        }
        if wantsRoots {
            writer.number(16)
            writer.flag(wantsRoots)
        }
        if let presentRootKeys {
            writer.number(26)
            writer.message(presentRootKeys)
        }
    }
}

/// One result for each link, in the order of the request.
@usableFromInline
package struct WireFetchShareMetadataAnswer: WireMessage {
    package var results: [WireShareMetadataResult] = []

    @usableFromInline package init() {}
}

extension WireFetchShareMetadataAnswer {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 10: try reader.append(to: &self.results, atMost: 1_000)
            default: try reader.skip(tag, known: 0x2)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        for value in results {
            size += 1 + WireSize.message(value)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        for value in results {
            writer.number(10)
            writer.message(value)
        }
    }
}

/// What a link leads to, or that it leads nowhere for the caller.
@usableFromInline
package struct WireShareMetadataResult: WireMessage {
    /// One of these, or none.
    package enum OneOfResult: Sendable, Equatable {
        case metadata(WireShareMetadata)
        case failure(WireFailure)
    }

    package var result: OneOfResult?

    package var metadata: WireShareMetadata {
        get {
            if case .metadata(let value)? = result { value } else { WireShareMetadata() }
        }
        set { result = .metadata(newValue) }
    }

    package var failure: WireFailure {
        get {
            if case .failure(let value)? = result { value } else { WireFailure() }
        }
        set { result = .failure(newValue) }
    }

    @usableFromInline package init() {}
}

extension WireShareMetadataResult {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 10:
                var value = self.metadata
                self.result = nil
                try reader.read(&value)
                self.result = .metadata(value)
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
        case .metadata(let value)?:
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
        case .metadata(let value)?:
            writer.number(10)
            writer.message(value)
        case .failure(let value)?:
            writer.number(18)
            writer.message(value)
        case nil: break
        }
    }
}

/// What somebody who is invited may know before they accept.
@usableFromInline
package struct WireShareMetadata: WireMessage {
    package var zone: WireZoneID {
        get { presentZone ?? WireZoneID() }
        set { presentZone = newValue }
    }
    package var hasZone: Bool { presentZone != nil }
    private var presentZone: WireZoneID?
    /// The whole CKShare record, with what the caller may see of the share.
    package var share: WireRecord {
        get { presentShare ?? WireRecord() }
        set { presentShare = newValue }
    }
    package var hasShare: Bool { presentShare != nil }
    private var presentShare: WireRecord?
    /// What the caller is, or would be.
    package var role = WireParticipantRole()
    package var status = WireParticipantStatus()
    package var permission = WireSharePermission()
    package var owner: WireParticipant {
        get { presentOwner ?? WireParticipant() }
        set { presentOwner = newValue }
    }
    package var hasOwner: Bool { presentOwner != nil }
    private var presentOwner: WireParticipant?
    /// Of the share of a hierarchy: the name of its root record. Empty: the share of the whole zone.
    package var root = ""
    /// The root record, if it was wanted.
    package var rootRecord: WireRecord {
        get { presentRootRecord ?? WireRecord() }
        set { presentRootRecord = newValue }
    }
    package var hasRootRecord: Bool { presentRootRecord != nil }
    private var presentRootRecord: WireRecord?

    @usableFromInline package init() {}
}

extension WireShareMetadata {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 10:
                var value = self.presentZone ?? WireZoneID()
                self.presentZone = nil
                try reader.read(&value)
                self.presentZone = value
            case 18:
                var value = self.presentShare ?? WireRecord()
                self.presentShare = nil
                try reader.read(&value)
                self.presentShare = value
            case 24: self.role = try reader.choice()
            case 32: self.status = try reader.choice()
            case 40: self.permission = try reader.choice()
            case 50:
                var value = self.presentOwner ?? WireParticipant()
                self.presentOwner = nil
                try reader.read(&value)
                self.presentOwner = value
            case 58: self.root = try reader.text(atMost: 65_536)
            case 66:
                var value = self.presentRootRecord ?? WireRecord()
                self.presentRootRecord = nil
                try reader.read(&value)
                self.presentRootRecord = value
            default: try reader.skip(tag, known: 0x1FE)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        if let presentZone {
            size += 1 + WireSize.message(presentZone)
        }
        if let presentShare {
            size += 1 + WireSize.message(presentShare)
        }
        if role != WireParticipantRole() {
            size += 1 + WireSize.choice(role)
        }
        if status != WireParticipantStatus() {
            size += 1 + WireSize.choice(status)
        }
        if permission != WireSharePermission() {
            size += 1 + WireSize.choice(permission)
        }
        if let presentOwner {
            size += 1 + WireSize.message(presentOwner)
        }
        if !root.isEmpty {
            size += 1 + WireSize.text(root)
        }
        if let presentRootRecord {
            size += 1 + WireSize.message(presentRootRecord)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        if let presentZone {
            writer.number(10)
            writer.message(presentZone)
        }
        if let presentShare {
            writer.number(18)
            writer.message(presentShare)
        }
        if role != WireParticipantRole() {
            writer.number(24)
            writer.choice(role)
        }
        if status != WireParticipantStatus() {
            writer.number(32)
            writer.choice(status)
        }
        if permission != WireSharePermission() {
            writer.number(40)
            writer.choice(permission)
        }
        if let presentOwner {
            writer.number(50)
            writer.message(presentOwner)
        }
        if !root.isEmpty {
            writer.number(58)
            writer.text(root)
        }
        if let presentRootRecord {
            writer.number(66)
            writer.message(presentRootRecord)
        }
    }
}

/// Accepts shares, or declines them. Repeating it does no harm.
@usableFromInline
package struct WireAcceptShares: WireMessage {
    /// The part of each URL after its last slash.
    package var links: [String] = []
    package var declines = false

    @usableFromInline package init() {}
}

extension WireAcceptShares {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 10: try reader.append(to: &self.links, atMost: 100, bytesMax: 1_024)
            case 16: self.declines = try reader.flag()
            default: try reader.skip(tag, known: 0x6)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        for value in links {
            size += 1 + WireSize.text(value)
        }
        if declines {
            size += 1 + WireSize.flag(declines)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        for value in links {
            writer.number(10)
            writer.text(value)
        }
        if declines {
            writer.number(16)
            writer.flag(declines)
        }
    }
}

/// One result for each link, in the order of the request.
@usableFromInline
package struct WireAcceptSharesAnswer: WireMessage {
    package var results: [WireShareMetadataResult] = []

    @usableFromInline package init() {}
}

extension WireAcceptSharesAnswer {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 10: try reader.append(to: &self.results, atMost: 1_000)
            default: try reader.skip(tag, known: 0x2)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        for value in results {
            size += 1 + WireSize.message(value)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        for value in results {
            writer.number(10)
            writer.message(value)
        }
    }
}

/// Looks for people to invite.
@usableFromInline
package struct WireFetchShareParticipants: WireMessage {
    package var lookups: [WireParticipantLookup] = []

    @usableFromInline package init() {}
}

extension WireFetchShareParticipants {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 10: try reader.append(to: &self.lookups, atMost: 100)
            default: try reader.skip(tag, known: 0x2)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        for value in lookups {
            size += 1 + WireSize.message(value)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        for value in lookups {
            writer.number(10)
            writer.message(value)
        }
    }
}

/// One of: a user's record name, an e-mail address, a telephone number.
@usableFromInline
package struct WireParticipantLookup: WireMessage {
    package var user = ""
    /// An address has at most 320 bytes.
    package var email = ""
    package var phone = ""

    @usableFromInline package init() {}
}

extension WireParticipantLookup {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 10: self.user = try reader.text(atMost: 4_096)
            case 18: self.email = try reader.text(atMost: 4_096)
            case 26: self.phone = try reader.text(atMost: 4_096)
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
        if !email.isEmpty {
            size += 1 + WireSize.text(email)
        }
        if !phone.isEmpty {
            size += 1 + WireSize.text(phone)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        if !user.isEmpty {
            writer.number(10)
            writer.text(user)
        }
        if !email.isEmpty {
            writer.number(18)
            writer.text(email)
        }
        if !phone.isEmpty {
            writer.number(26)
            writer.text(phone)
        }
    }
}

/// One result for each lookup, in the order of the request.
@usableFromInline
package struct WireFetchShareParticipantsAnswer: WireMessage {
    package var results: [WireParticipantLookupResult] = []

    @usableFromInline package init() {}
}

extension WireFetchShareParticipantsAnswer {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 10: try reader.append(to: &self.results, atMost: 1_000)
            default: try reader.skip(tag, known: 0x2)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        for value in results {
            size += 1 + WireSize.message(value)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        for value in results {
            writer.number(10)
            writer.message(value)
        }
    }
}

/// Whether somebody was found. An address never tells the user's record name.
@usableFromInline
package struct WireParticipantLookupResult: WireMessage {
    /// One of these, or none.
    package enum OneOfResult: Sendable, Equatable {
        case person(WireFoundPerson)
        case failure(WireFailure)
    }

    package var result: OneOfResult?

    package var person: WireFoundPerson {
        get {
            if case .person(let value)? = result { value } else { WireFoundPerson() }
        }
        set { result = .person(newValue) }
    }

    package var failure: WireFailure {
        get {
            if case .failure(let value)? = result { value } else { WireFailure() }
        }
        set { result = .failure(newValue) }
    }

    @usableFromInline package init() {}
}

extension WireParticipantLookupResult {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 10:
                var value = self.person
                self.result = nil
                try reader.read(&value)
                self.result = .person(value)
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
        case .person(let value)?:
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
        case .person(let value)?:
            writer.number(10)
            writer.message(value)
        case .failure(let value)?:
            writer.number(18)
            writer.message(value)
        case nil: break
        }
    }
}

/// A person as somebody else may know them before they accept.
@usableFromInline
package struct WireFoundPerson: WireMessage {
    /// Whether there is an account. False: the invitation waits for one with that address.
    package var hasAccount = false

    @usableFromInline package init() {}
}

extension WireFoundPerson {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 8: self.hasAccount = try reader.flag()
            default: try reader.skip(tag, known: 0x2)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        if hasAccount {
            size += 1 + WireSize.flag(hasAccount)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        if hasAccount {
            writer.number(8)
            writer.flag(hasAccount)
        }
    }
}

/// Asks for access to shares to which the caller is not invited. Repeating it does no harm.
@usableFromInline
package struct WireRequestShareAccess: WireMessage {
    /// The part of each URL after its last slash.
    package var links: [String] = []

    @usableFromInline package init() {}
}

extension WireRequestShareAccess {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 10: try reader.append(to: &self.links, atMost: 100, bytesMax: 1_024)
            default: try reader.skip(tag, known: 0x2)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        for value in links {
            size += 1 + WireSize.text(value)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        for value in links {
            writer.number(10)
            writer.text(value)
        }
    }
}

/// One result for each link, in the order of the request.
@usableFromInline
package struct WireRequestShareAccessAnswer: WireMessage {
    package var results: [WireShareAccessResult] = []

    @usableFromInline package init() {}
}

extension WireRequestShareAccessAnswer {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 10: try reader.append(to: &self.results, atMost: 1_000)
            default: try reader.skip(tag, known: 0x2)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        for value in results {
            size += 1 + WireSize.message(value)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        for value in results {
            writer.number(10)
            writer.message(value)
        }
    }
}

/// Without a failure: the owner hears of it if there is such a share, and if it takes requests of the caller. Nobody is
/// told whether that is so.
@usableFromInline
package struct WireShareAccessResult: WireMessage {
    package var failure: WireFailure {
        get { presentFailure ?? WireFailure() }
        set { presentFailure = newValue }
    }
    package var hasFailure: Bool { presentFailure != nil }
    private var presentFailure: WireFailure?

    @usableFromInline package init() {}
}

extension WireShareAccessResult {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 10:
                var value = self.presentFailure ?? WireFailure()
                self.presentFailure = nil
                try reader.read(&value)
                self.presentFailure = value
            default: try reader.skip(tag, known: 0x2)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        if let presentFailure {
            size += 1 + WireSize.message(presentFailure)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        if let presentFailure {
            writer.number(10)
            writer.message(presentFailure)
        }
    }
}
