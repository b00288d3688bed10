// SPDX-License-Identifier: Apache-2.0
//
// Made by tidemark-wire-generator from Protos/Changes.proto. Change that, and run `make protocol`.

public import TidemarkBytes

/// Asks which zones changed since a token.
@usableFromInline
package struct WireFetchDatabaseChanges: WireMessage {
    package var database = WireDatabaseScope()
    /// A token of this feed. Empty: from the beginning, with existing zones only.
    package var token: [UInt8] = []
    /// The most zones in the answer. 0: the server decides.
    package var limit: UInt32 = 0
    /// Without a token: also return the ends of zones. For a client that had some of these zones and lost its token.
    package var withEnds = false
    /// What the client would ask for next if only that zone has changed: a zone of this database. A hint, for private
    /// and shared databases.
    package var then: WireFetchZoneChanges {
        get { presentThen ?? WireFetchZoneChanges() }
        set { presentThen = newValue }
    }
    package var hasThen: Bool { presentThen != nil }
    private var presentThen: WireFetchZoneChanges?
    /// Whether the client will take changes from pushes (PushedChanges) that continue from the tokens that it has.
    package var follows = false
    /// The database subscription that brings the client's pushes. Empty: none.
    package var subscriptionID = ""

    @usableFromInline package init() {}
}

extension WireFetchDatabaseChanges {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 8: self.database = try reader.choice()
            case 18: self.token = try reader.content(atMost: 4_096)
            case 24: self.limit = try reader.uint32()
            case 32: self.withEnds = try reader.flag()
            case 42:
                var value = self.presentThen ?? WireFetchZoneChanges()
                self.presentThen = nil
                try reader.read(&value)
                self.presentThen = value
            case 48: self.follows = try reader.flag()
            case 82: self.subscriptionID = try reader.text(atMost: 65_536)
            default: try reader.skip(tag, known: 0x47E)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        if database != WireDatabaseScope() {
            size += 1 + WireSize.choice(database)
        }
        if !token.isEmpty {
            size += 1 + WireSize.content(token)
        }
        if limit != 0 {
            size += 1 + WireSize.uint32(limit)
        }
        if withEnds {
            size += 1 + WireSize.flag(withEnds)
        }
        if let presentThen {
            size += 1 + WireSize.message(presentThen)
        }
        if follows {
            size += 1 + WireSize.flag(follows)
        }
        if !subscriptionID.isEmpty {
            size += 1 + WireSize.text(subscriptionID)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        if database != WireDatabaseScope() {
            writer.number(8)
            writer.choice(database)
        }
        if !token.isEmpty {
            writer.number(18)
            writer.content(token)
        }
        if limit != 0 {
            writer.number(24)
            writer.uint32(limit)
        }
        if withEnds {
            writer.number(32)
            writer.flag(withEnds)
        }
        if let presentThen {
            writer.number(42)
            writer.message(presentThen)
        }
        if follows {
            writer.number(48)
            writer.flag(follows)
        }
        if !subscriptionID.isEmpty {
            writer.number(82)
            writer.text(subscriptionID)
        }
    }
}

/// One page of a database's feed.
@usableFromInline
package struct WireFetchDatabaseChangesAnswer: WireMessage {
    /// Ends come before changes. A zone that was deleted and created again is in both.
    package var ended: [WireZoneEnd] = []
    package var changed: [WireZoneID] = []
    package var token: [UInt8] = []
    /// There is more: fetch again with the token at once.
    package var moreComing = false
    /// The answer to `then`. It was not read before the fields above, so it has all changes of the zone that they name.
    /// It is a page of a moderate size. It may be missing for any reason. Then the client asks for it when it needs it.
    package var then: WireFetchZoneChangesAnswer {
        get { presentThen ?? WireFetchZoneChangesAnswer() }
        set { presentThen = newValue }
    }
    package var hasThen: Bool { presentThen != nil }
    private var presentThen: WireFetchZoneChangesAnswer?
    /// The user no longer has the subscription with that `subscription_id`. The client saves it again, or it gets no
    /// pushes.
    package var subscriptionMissing = false

    @usableFromInline package init() {}
}

extension WireFetchDatabaseChangesAnswer {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 10: try reader.append(to: &self.ended, atMost: 65_536)
            case 18: try reader.append(to: &self.changed, atMost: 65_536)
            case 26: self.token = try reader.content()
            case 32: self.moreComing = try reader.flag()
            case 42:
                var value = self.presentThen ?? WireFetchZoneChangesAnswer()
                self.presentThen = nil
                try reader.read(&value)
                self.presentThen = value
            case 80: self.subscriptionMissing = try reader.flag()
            default: try reader.skip(tag, known: 0x43E)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        for value in ended {
            size += 1 + WireSize.message(value)
        }
        for value in changed {
            size += 1 + WireSize.message(value)
        }
        if !token.isEmpty {
            size += 1 + WireSize.content(token)
        }
        if moreComing {
            size += 1 + WireSize.flag(moreComing)
        }
        if let presentThen {
            size += 1 + WireSize.message(presentThen)
        }
        if subscriptionMissing {
            size += 1 + WireSize.flag(subscriptionMissing)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        for value in ended {
            writer.number(10)
            writer.message(value)
        }
        for value in changed {
            writer.number(18)
            writer.message(value)
        }
        if !token.isEmpty {
            writer.number(26)
            writer.content(token)
        }
        if moreComing {
            writer.number(32)
            writer.flag(moreComing)
        }
        if let presentThen {
            writer.number(42)
            writer.message(presentThen)
        }
        if subscriptionMissing {
            writer.number(80)
            writer.flag(subscriptionMissing)
        }
    }
}

// Field by field, for hot loops that make no message objects.
extension WireFetchDatabaseChangesAnswer {
    /// The fields' tags, as `WireReader.nextTag()` returns them.
    @usableFromInline
    package enum Tag {
        @inlinable package static var ended: UInt32 { 10 }
        @inlinable package static var changed: UInt32 { 18 }
        @inlinable package static var token: UInt32 { 26 }
        @inlinable package static var moreComing: UInt32 { 32 }
        @inlinable package static var then: UInt32 { 42 }
        @inlinable package static var subscriptionMissing: UInt32 { 80 }
    }

    /// Writes these fields, or counts their bytes. Omitted ones have their defaults.
    @inlinable
    package static func write<Token: WireContent>(
        token: Token = [UInt8](),
        moreComing: Bool = false,
        subscriptionMissing: Bool = false,
        to writer: inout WireWriter
    ) {
        guard !writer.isMeasuring else {
            var size = 0
            if token.byteCount > 0 { size += 1 + WireSize.content(token) }
            if moreComing { size += 1 + WireSize.flag(moreComing) }
            if subscriptionMissing { size += 1 + WireSize.flag(subscriptionMissing) }
            return writer.count(size)
        }
        if token.byteCount > 0 {
            writer.number(26)
            writer.content(token)
        }
        if moreComing {
            writer.number(32)
            writer.flag(moreComing)
        }
        if subscriptionMissing {
            writer.number(80)
            writer.flag(subscriptionMissing)
        }
    }

    /// The size of the field `ended`, if its message has `byteCount` bytes.
    @inlinable
    package static func size(ended byteCount: Int) -> Int { 1 + WireSize.content(byteCount) }

    /// Writes tag and length of the field `ended`. The bytes of its message must follow.
    @inlinable
    package static func begin(ended byteCount: Int, to writer: inout WireWriter) {
        writer.number(10)
        writer.number(UInt64(byteCount))
    }

    /// The size of the field `changed`, if its message has `byteCount` bytes.
    @inlinable
    package static func size(changed byteCount: Int) -> Int { 1 + WireSize.content(byteCount) }

    /// Writes tag and length of the field `changed`. The bytes of its message must follow.
    @inlinable
    package static func begin(changed byteCount: Int, to writer: inout WireWriter) {
        writer.number(18)
        writer.number(UInt64(byteCount))
    }

    /// The size of the field `then`, if its message has `byteCount` bytes.
    @inlinable
    package static func size(then byteCount: Int) -> Int { 1 + WireSize.content(byteCount) }

    /// Writes tag and length of the field `then`. The bytes of its message must follow.
    @inlinable
    package static func begin(then byteCount: Int, to writer: inout WireWriter) {
        writer.number(42)
        writer.number(UInt64(byteCount))
    }
}

/// A zone that no longer exists, and why.
@usableFromInline
package struct WireZoneEnd: WireMessage {
    package var zone: WireZoneID {
        get { presentZone ?? WireZoneID() }
        set { presentZone = newValue }
    }
    package var hasZone: Bool { presentZone != nil }
    private var presentZone: WireZoneID?
    package var reason = WireZoneEndReason()

    @usableFromInline package init() {}
}

extension WireZoneEnd {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 10:
                var value = self.presentZone ?? WireZoneID()
                self.presentZone = nil
                try reader.read(&value)
                self.presentZone = value
            case 16: self.reason = try reader.choice()
            default: try reader.skip(tag, known: 0x6)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        if let presentZone {
            size += 1 + WireSize.message(presentZone)
        }
        if reason != WireZoneEndReason() {
            size += 1 + WireSize.choice(reason)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        if let presentZone {
            writer.number(10)
            writer.message(presentZone)
        }
        if reason != WireZoneEndReason() {
            writer.number(16)
            writer.choice(reason)
        }
    }
}

/// Asks which records of a zone changed since a token.
@usableFromInline
package struct WireFetchZoneChanges: WireMessage {
    package var database = WireDatabaseScope()
    package var zone: WireZoneID {
        get { presentZone ?? WireZoneID() }
        set { presentZone = newValue }
    }
    package var hasZone: Bool { presentZone != nil }
    private var presentZone: WireZoneID?
    /// A token of this zone's feed. Empty: from the beginning, with living records, and with ends of records that this
    /// device created.
    package var token: [UInt8] = []
    /// The most records in the answer. 0: the server decides.
    package var limit: UInt32 = 0
    package var desiredKeys: WireDesiredKeys {
        get { presentDesiredKeys ?? WireDesiredKeys() }
        set { presentDesiredKeys = newValue }
    }
    package var hasDesiredKeys: Bool { presentDesiredKeys != nil }
    private var presentDesiredKeys: WireDesiredKeys?
    /// Without a token: also return the ends of all records. For a client that had some of them and lost its token.
    package var withEnds = false

    @usableFromInline package init() {}
}

extension WireFetchZoneChanges {
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
            case 26: self.token = try reader.content(atMost: 4_096)
            case 32: self.limit = try reader.uint32()
            case 42:
                var value = self.presentDesiredKeys ?? WireDesiredKeys()
                self.presentDesiredKeys = nil
                try reader.read(&value)
                self.presentDesiredKeys = value
            case 48: self.withEnds = try reader.flag()
            default: try reader.skip(tag, known: 0x7E)
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
        if !token.isEmpty {
            size += 1 + WireSize.content(token)
        }
        if limit != 0 {
            size += 1 + WireSize.uint32(limit)
        }
        if let presentDesiredKeys {
            size += 1 + WireSize.message(presentDesiredKeys)
        }
        if withEnds {
            size += 1 + WireSize.flag(withEnds)
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
        if !token.isEmpty {
            writer.number(26)
            writer.content(token)
        }
        if limit != 0 {
            writer.number(32)
            writer.uint32(limit)
        }
        if let presentDesiredKeys {
            writer.number(42)
            writer.message(presentDesiredKeys)
        }
        if withEnds {
            writer.number(48)
            writer.flag(withEnds)
        }
    }
}

/// One page of a zone's feed.
@usableFromInline
package struct WireFetchZoneChangesAnswer: WireMessage {
    /// Oldest change first.
    package var changes: [WireZoneChange] = []
    package var token: [UInt8] = []
    /// There is more: fetch again with the token at once.
    package var moreComing = false
    /// The last client_change_token that this device sent with a ModifyRecords in the zone. Empty: none.
    package var clientChangeToken: [UInt8] = []

    @usableFromInline package init() {}
}

extension WireFetchZoneChangesAnswer {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 10: try reader.append(to: &self.changes, atMost: 65_536)
            case 18: self.token = try reader.content()
            case 24: self.moreComing = try reader.flag()
            case 34: self.clientChangeToken = try reader.content()
            default: try reader.skip(tag, known: 0x1E)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        for value in changes {
            size += 1 + WireSize.message(value)
        }
        if !token.isEmpty {
            size += 1 + WireSize.content(token)
        }
        if moreComing {
            size += 1 + WireSize.flag(moreComing)
        }
        if !clientChangeToken.isEmpty {
            size += 1 + WireSize.content(clientChangeToken)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        for value in changes {
            writer.number(10)
            writer.message(value)
        }
        if !token.isEmpty {
            writer.number(18)
            writer.content(token)
        }
        if moreComing {
            writer.number(24)
            writer.flag(moreComing)
        }
        if !clientChangeToken.isEmpty {
            writer.number(34)
            writer.content(clientChangeToken)
        }
    }
}

// Field by field, for hot loops that make no message objects.
extension WireFetchZoneChangesAnswer {
    /// The fields' tags, as `WireReader.nextTag()` returns them.
    @usableFromInline
    package enum Tag {
        @inlinable package static var changes: UInt32 { 10 }
        @inlinable package static var token: UInt32 { 18 }
        @inlinable package static var moreComing: UInt32 { 24 }
        @inlinable package static var clientChangeToken: UInt32 { 34 }
    }

    /// Writes these fields, or counts their bytes. Omitted ones have their defaults.
    @inlinable
    package static func write<Token: WireContent, ClientChangeToken: WireContent>(
        token: Token = [UInt8](),
        moreComing: Bool = false,
        clientChangeToken: ClientChangeToken = [UInt8](),
        to writer: inout WireWriter
    ) {
        guard !writer.isMeasuring else {
            var size = 0
            if token.byteCount > 0 { size += 1 + WireSize.content(token) }
            if moreComing { size += 1 + WireSize.flag(moreComing) }
            if clientChangeToken.byteCount > 0 { size += 1 + WireSize.content(clientChangeToken) }
            return writer.count(size)
        }
        if token.byteCount > 0 {
            writer.number(18)
            writer.content(token)
        }
        if moreComing {
            writer.number(24)
            writer.flag(moreComing)
        }
        if clientChangeToken.byteCount > 0 {
            writer.number(34)
            writer.content(clientChangeToken)
        }
    }

    /// The size of the field `changes`, if its message has `byteCount` bytes.
    @inlinable
    package static func size(changes byteCount: Int) -> Int { 1 + WireSize.content(byteCount) }

    /// Writes tag and length of the field `changes`. The bytes of its message must follow.
    @inlinable
    package static func begin(changes byteCount: Int, to writer: inout WireWriter) {
        writer.number(10)
        writer.number(UInt64(byteCount))
    }
}

/// Asks what a zone has, for a client that compares it with what it has itself. It costs the server the same however
/// large the zone is.
@usableFromInline
package struct WireVerifyZone: WireMessage {
    package var database = WireDatabaseScope()
    /// A custom zone. One of another user only if the client's user may read all of it.
    package var zone: WireZoneID {
        get { presentZone ?? WireZoneID() }
        set { presentZone = newValue }
    }
    package var hasZone: Bool { presentZone != nil }
    private var presentZone: WireZoneID?
    /// Whether names and versions are wanted too, a page of them.
    package var lists = false
    /// The name after which the page begins: `next` of the page before. Empty: from the first.
    package var after = ""

    @usableFromInline package init() {}
}

extension WireVerifyZone {
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
            case 24: self.lists = try reader.flag()
            case 34: self.after = try reader.text(atMost: 4_096)
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
        if let presentZone {
            size += 1 + WireSize.message(presentZone)
        }
        if lists {
            size += 1 + WireSize.flag(lists)
        }
        if !after.isEmpty {
            size += 1 + WireSize.text(after)
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
        if lists {
            writer.number(24)
            writer.flag(lists)
        }
        if !after.isEmpty {
            writer.number(34)
            writer.text(after)
        }
    }
}

/// What a zone has, all of it in one moment.
@usableFromInline
package struct WireVerifyZoneAnswer: WireMessage {
    /// The token of a fetch that ends at this moment. If it is not the same in two pages, the zone has changed in
    /// between.
    package var token: [UInt8] = []
    /// How many living records there are. 0 without a digest: the server does not know it, and the client counts the
    /// names.
    package var recordCount: UInt64 = 0
    /// 16 bytes: the XOR, over all living records, of the first 16 bytes of SHA-256 of the record's number (8 bytes,
    /// most significant first) and its name. Empty: the server does not know it, and the client asks for the names.
    package var digest: [UInt8] = []
    /// Living records, in the order of the bytes of their names. A page may be empty although there are more.
    package var versions: [WireNamedVersion] = []
    /// Where the next page begins. Empty: there is no more.
    package var next = ""

    @usableFromInline package init() {}
}

extension WireVerifyZoneAnswer {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 10: self.token = try reader.content()
            case 16: self.recordCount = try reader.uint64()
            case 26: self.digest = try reader.content()
            case 34: try reader.append(to: &self.versions, atMost: 65_536)
            case 42: self.next = try reader.text()
            default: try reader.skip(tag, known: 0x3E)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        if !token.isEmpty {
            size += 1 + WireSize.content(token)
        }
        if recordCount != 0 {
            size += 1 + WireSize.uint64(recordCount)
        }
        if !digest.isEmpty {
            size += 1 + WireSize.content(digest)
        }
        for value in versions {
            size += 1 + WireSize.message(value)
        }
        if !next.isEmpty {
            size += 1 + WireSize.text(next)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        if !token.isEmpty {
            writer.number(10)
            writer.content(token)
        }
        if recordCount != 0 {
            writer.number(16)
            writer.uint64(recordCount)
        }
        if !digest.isEmpty {
            writer.number(26)
            writer.content(digest)
        }
        for value in versions {
            writer.number(34)
            writer.message(value)
        }
        if !next.isEmpty {
            writer.number(42)
            writer.text(next)
        }
    }
}

/// A record's name, and its number in the zone's order, which its change tag has.
@usableFromInline
package struct WireNamedVersion: WireMessage {
    package var name = ""
    package var number: UInt64 = 0

    @usableFromInline package init() {}
}

extension WireNamedVersion {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 10: self.name = try reader.text()
            case 16: self.number = try reader.uint64()
            default: try reader.skip(tag, known: 0x6)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        if !name.isEmpty {
            size += 1 + WireSize.text(name)
        }
        if number != 0 {
            size += 1 + WireSize.uint64(number)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        if !name.isEmpty {
            writer.number(10)
            writer.text(name)
        }
        if number != 0 {
            writer.number(16)
            writer.uint64(number)
        }
    }
}

/// A record that changed or was deleted.
@usableFromInline
package struct WireZoneChange: WireMessage {
    /// One of these, or none.
    package enum OneOfChange: Sendable, Equatable {
        /// The record's latest state.
        case record(WireRecord)
        case deleted(WireRecordEnd)
    }

    package var change: OneOfChange?

    package var record: WireRecord {
        get {
            if case .record(let value)? = change { value } else { WireRecord() }
        }
        set { change = .record(newValue) }
    }

    package var deleted: WireRecordEnd {
        get {
            if case .deleted(let value)? = change { value } else { WireRecordEnd() }
        }
        set { change = .deleted(newValue) }
    }

    @usableFromInline package init() {}
}

extension WireZoneChange {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 10:
                var value = self.record
                self.change = nil
                try reader.read(&value)
                self.change = .record(value)
            case 18:
                var value = self.deleted
                self.change = nil
                try reader.read(&value)
                self.change = .deleted(value)
            default: try reader.skip(tag, known: 0x6)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        switch change {
        case .record(let value)?:
            size += 1 + WireSize.message(value)
        case .deleted(let value)?:
            size += 1 + WireSize.message(value)
        case nil: break
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        switch change {
        case .record(let value)?:
            writer.number(10)
            writer.message(value)
        case .deleted(let value)?:
            writer.number(18)
            writer.message(value)
        case nil: break
        }
    }
}

// Field by field, for hot loops that make no message objects.
extension WireZoneChange {
    /// The fields' tags, as `WireReader.nextTag()` returns them.
    @usableFromInline
    package enum Tag {
        @inlinable package static var record: UInt32 { 10 }
        @inlinable package static var deleted: UInt32 { 18 }
    }

    /// The size of the field `record`, if its message has `byteCount` bytes.
    @inlinable
    package static func size(record byteCount: Int) -> Int { 1 + WireSize.content(byteCount) }

    /// Writes tag and length of the field `record`. The bytes of its message must follow.
    @inlinable
    package static func begin(record byteCount: Int, to writer: inout WireWriter) {
        writer.number(10)
        writer.number(UInt64(byteCount))
    }

    /// The size of the field `deleted`, if its message has `byteCount` bytes.
    @inlinable
    package static func size(deleted byteCount: Int) -> Int { 1 + WireSize.content(byteCount) }

    /// Writes tag and length of the field `deleted`. The bytes of its message must follow.
    @inlinable
    package static func begin(deleted byteCount: Int, to writer: inout WireWriter) {
        writer.number(18)
        writer.number(UInt64(byteCount))
    }
}

/// A record that was deleted.
@usableFromInline
package struct WireRecordEnd: WireMessage {
    package var name = ""
    package var type = ""

    @usableFromInline package init() {}
}

extension WireRecordEnd {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 10: self.name = try reader.text()
            case 18: self.type = try reader.text()
            default: try reader.skip(tag, known: 0x6)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        if !name.isEmpty {
            size += 1 + WireSize.text(name)
        }
        if !type.isEmpty {
            size += 1 + WireSize.text(type)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        if !name.isEmpty {
            writer.number(10)
            writer.text(name)
        }
        if !type.isEmpty {
            writer.number(18)
            writer.text(type)
        }
    }
}

// Field by field, for hot loops that make no message objects.
extension WireRecordEnd {
    /// The fields' tags, as `WireReader.nextTag()` returns them.
    @usableFromInline
    package enum Tag {
        @inlinable package static var name: UInt32 { 10 }
        @inlinable package static var type: UInt32 { 18 }
    }

    /// Writes these fields, or counts their bytes. Omitted ones have their defaults.
    @inlinable
    package static func write(name: String = "", type: String = "", to writer: inout WireWriter) {
        guard !writer.isMeasuring else {
            var size = 0
            if !name.isEmpty { size += 1 + WireSize.text(name) }
            if !type.isEmpty { size += 1 + WireSize.text(type) }
            return writer.count(size)
        }
        if !name.isEmpty {
            writer.number(10)
            writer.text(name)
        }
        if !type.isEmpty {
            writer.number(18)
            writer.text(type)
        }
    }
}

/// Why a zone is gone.
@usableFromInline
package enum WireZoneEndReason: WireChoice {
    case deleted
    case purged
    case encryptedDataReset
    /// A value that this version does not know.
    case unrecognized(Int32)

    @usableFromInline package init() { self = .deleted }

    @usableFromInline
    package init(rawValue: Int32) {
        switch rawValue {
        case 0: self = .deleted
        case 1: self = .purged
        case 2: self = .encryptedDataReset
        default: self = .unrecognized(rawValue)
        }
    }

    @usableFromInline
    package var rawValue: Int32 {
        switch self {
        case .deleted: 0
        case .purged: 1
        case .encryptedDataReset: 2
        case .unrecognized(let number): number
        }
    }
}
