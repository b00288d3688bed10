// SPDX-License-Identifier: Apache-2.0
//
// Made by tidemark-wire-generator from Protos/Records.proto. Change that, and run `make protocol`.

public import TidemarkBytes

/// A record as the server sends it.
@usableFromInline
package struct WireRecord: WireMessage {
    package var name = ""
    package var type = ""
    /// A FieldMap (Fields.proto).
    package var fields: [UInt8] = []
    /// The change tag, unique to this version. A client sends it back as it came. It may read the tag for one
    /// purpose: to find which of two versions of a record is newer, even if the store was restored between them
    ///
    ///
    /// A tag is a row of varints, followed by four bytes in network order: the FNV-1a of all bytes before them. The
    /// varints are: 1; the incarnation of the store; the zone; the version's number in the zone. The lower 32 bits of
    /// an incarnation are its own, the upper ones are the lower bits of the incarnation from which the store was
    /// restored. Each restore raises the versions' numbers to the next multiple of 2^40. A tag of another form says
    /// nothing.
    ///
    /// A change token has the same form, and says how far a feed was read. The token of a zone has: 1; 1; the
    /// incarnation of the store; two numbers; the zone; the version's number; and more. The token of a database has: 1;
    /// 2; the incarnation of the store; a number; the number in its feed; and more.
    package var tag: [UInt8] = []
    /// Milliseconds since 1970.
    package var createdAt: Int64 = 0
    package var modifiedAt: Int64 = 0
    /// User record names. Empty: the caller.
    package var createdBy = ""
    package var modifiedBy = ""
    /// The name of the parent record in the same zone. Empty: none.
    package var parent = ""
    /// Of a CKShare record: the share, as the caller may see it.
    package var share: WireShare {
        get { presentShare ?? WireShare() }
        set { presentShare = newValue }
    }
    package var hasShare: Bool { presentShare != nil }
    private var presentShare: WireShare?
    /// Of the root of a shared hierarchy: the name of its CKShare record in the same zone. Empty: it is the
    /// root of none.
    package var shareName = ""

    @usableFromInline package init() {}
}

extension WireRecord {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 10: self.name = try reader.text()
            case 18: self.type = try reader.text()
            case 26: self.fields = try reader.content()
            case 34: self.tag = try reader.content()
            case 40: self.createdAt = try reader.int64()
            case 48: self.modifiedAt = try reader.int64()
            case 58: self.createdBy = try reader.text()
            case 66: self.modifiedBy = try reader.text()
            case 74: self.parent = try reader.text()
            case 82:
                var value = self.presentShare ?? WireShare()
                self.presentShare = nil
                try reader.read(&value)
                self.presentShare = value
            case 90: self.shareName = try reader.text(atMost: 65_536)
            default: try reader.skip(tag, known: 0xFFE)
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
        if !fields.isEmpty {
            size += 1 + WireSize.content(fields)
        }
        if !tag.isEmpty {
            size += 1 + WireSize.content(tag)
        }
        if createdAt != 0 {
            size += 1 + WireSize.int64(createdAt)
        }
        if modifiedAt != 0 {
            size += 1 + WireSize.int64(modifiedAt)
        }
        if !createdBy.isEmpty {
            size += 1 + WireSize.text(createdBy)
        }
        if !modifiedBy.isEmpty {
            size += 1 + WireSize.text(modifiedBy)
        }
        if !parent.isEmpty {
            size += 1 + WireSize.text(parent)
        }
        if let presentShare {
            size += 1 + WireSize.message(presentShare)
        }
        if !shareName.isEmpty {
            size += 1 + WireSize.text(shareName)
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
        if !fields.isEmpty {
            writer.number(26)
            writer.content(fields)
        }
        if !tag.isEmpty {
            writer.number(34)
            writer.content(tag)
        }
        if createdAt != 0 {
            writer.number(40)
            writer.int64(createdAt)
        }
        if modifiedAt != 0 {
            writer.number(48)
            writer.int64(modifiedAt)
        }
        if !createdBy.isEmpty {
            writer.number(58)
            writer.text(createdBy)
        }
        if !modifiedBy.isEmpty {
            writer.number(66)
            writer.text(modifiedBy)
        }
        if !parent.isEmpty {
            writer.number(74)
            writer.text(parent)
        }
        if let presentShare {
            writer.number(82)
            writer.message(presentShare)
        }
        if !shareName.isEmpty {
            writer.number(90)
            writer.text(shareName)
        }
    }
}

// Field by field, for hot loops that make no message objects.
extension WireRecord {
    /// The fields' tags, as `WireReader.nextTag()` returns them.
    @usableFromInline
    package enum Tag {
        @inlinable package static var name: UInt32 { 10 }
        @inlinable package static var type: UInt32 { 18 }
        @inlinable package static var fields: UInt32 { 26 }
        @inlinable package static var tag: UInt32 { 34 }
        @inlinable package static var createdAt: UInt32 { 40 }
        @inlinable package static var modifiedAt: UInt32 { 48 }
        @inlinable package static var createdBy: UInt32 { 58 }
        @inlinable package static var modifiedBy: UInt32 { 66 }
        @inlinable package static var parent: UInt32 { 74 }
        @inlinable package static var share: UInt32 { 82 }
        @inlinable package static var shareName: UInt32 { 90 }
    }

    /// Writes these fields, or counts their bytes. Omitted ones have their defaults.
    @inlinable
    package static func write<Fields: WireContent, Tag: WireContent>(
        name: String = "",
        type: String = "",
        fields: Fields = [UInt8](),
        tag: Tag = [UInt8](),
        createdAt: Int64 = 0,
        modifiedAt: Int64 = 0,
        createdBy: String = "",
        modifiedBy: String = "",
        parent: String = "",
        shareName: String = "",
        to writer: inout WireWriter
    ) {
        guard !writer.isMeasuring else {
            var size = 0
            if !name.isEmpty { size += 1 + WireSize.text(name) }
            if !type.isEmpty { size += 1 + WireSize.text(type) }
            if fields.byteCount > 0 { size += 1 + WireSize.content(fields) }
            if tag.byteCount > 0 { size += 1 + WireSize.content(tag) }
            if createdAt != 0 { size += 1 + WireSize.int64(createdAt) }
            if modifiedAt != 0 { size += 1 + WireSize.int64(modifiedAt) }
            if !createdBy.isEmpty { size += 1 + WireSize.text(createdBy) }
            if !modifiedBy.isEmpty { size += 1 + WireSize.text(modifiedBy) }
            if !parent.isEmpty { size += 1 + WireSize.text(parent) }
            if !shareName.isEmpty { size += 1 + WireSize.text(shareName) }
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
        if fields.byteCount > 0 {
            writer.number(26)
            writer.content(fields)
        }
        if tag.byteCount > 0 {
            writer.number(34)
            writer.content(tag)
        }
        if createdAt != 0 {
            writer.number(40)
            writer.int64(createdAt)
        }
        if modifiedAt != 0 {
            writer.number(48)
            writer.int64(modifiedAt)
        }
        if !createdBy.isEmpty {
            writer.number(58)
            writer.text(createdBy)
        }
        if !modifiedBy.isEmpty {
            writer.number(66)
            writer.text(modifiedBy)
        }
        if !parent.isEmpty {
            writer.number(74)
            writer.text(parent)
        }
        if !shareName.isEmpty {
            writer.number(90)
            writer.text(shareName)
        }
    }

    /// The size of the field `share`, if its message has `byteCount` bytes.
    @inlinable
    package static func size(share byteCount: Int) -> Int { 1 + WireSize.content(byteCount) }

    /// Writes tag and length of the field `share`. The bytes of its message must follow.
    @inlinable
    package static func begin(share byteCount: Int, to writer: inout WireWriter) {
        writer.number(82)
        writer.number(UInt64(byteCount))
    }
}

/// Saves and deletes records in any number of zones. The part of each zone has its own place in the order, its own
/// remembered outcome, and is atomic on its own, if asked.
@usableFromInline
package struct WireModifyRecords: WireMessage {
    package var database = WireDatabaseScope()
    package var stamp: WireRequestStamp {
        get { presentStamp ?? WireRequestStamp() }
        set { presentStamp = newValue }
    }
    package var hasStamp: Bool { presentStamp != nil }
    private var presentStamp: WireRequestStamp?
    package var policy = WireSavePolicy()
    /// If one item fails, the whole part of its zone fails.
    package var atomic = false
    package var zones: [WireZoneModifications] = []
    /// The app's own mark of how far it has sent its changes, at most 4096 bytes. The server keeps it for each zone of
    /// the request, and returns it with the changes that this device fetches there. Empty: the kept one stays.
    package var clientChangeToken: [UInt8] = []

    @usableFromInline package init() {}
}

extension WireModifyRecords {
    @usableFromInline package static var elementsInAllMax: Int { 12500 }

    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 8: self.database = try reader.choice()
            case 18:
                var value = self.presentStamp ?? WireRequestStamp()
                self.presentStamp = nil
                try reader.read(&value)
                self.presentStamp = value
            case 24: self.policy = try reader.choice()
            case 32: self.atomic = try reader.flag()
            case 42: try reader.append(to: &self.zones, atMost: 4_096)
            case 50: self.clientChangeToken = try reader.content(atMost: 65_536)
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
        if let presentStamp {
            size += 1 + WireSize.message(presentStamp)
        }
        if policy != WireSavePolicy() {
            size += 1 + WireSize.choice(policy)
        }
        if atomic {
            size += 1 + WireSize.flag(atomic)
        }
        for value in zones {
            size += 1 + WireSize.message(value)
        }
        if !clientChangeToken.isEmpty {
            size += 1 + WireSize.content(clientChangeToken)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        if database != WireDatabaseScope() {
            writer.number(8)
            writer.choice(database)
        }
        if let presentStamp {
            writer.number(18)
            writer.message(presentStamp)
        }
        if policy != WireSavePolicy() {
            writer.number(24)
            writer.choice(policy)
        }
        if atomic {
            writer.number(32)
            writer.flag(atomic)
        }
        for value in zones {
            writer.number(42)
            writer.message(value)
        }
        if !clientChangeToken.isEmpty {
            writer.number(50)
            writer.content(clientChangeToken)
        }
    }
}

// Field by field, for hot loops that make no message objects.
extension WireModifyRecords {
    /// The fields' tags, as `WireReader.nextTag()` returns them.
    @usableFromInline
    package enum Tag {
        @inlinable package static var database: UInt32 { 8 }
        @inlinable package static var stamp: UInt32 { 18 }
        @inlinable package static var policy: UInt32 { 24 }
        @inlinable package static var atomic: UInt32 { 32 }
        @inlinable package static var zones: UInt32 { 42 }
        @inlinable package static var clientChangeToken: UInt32 { 50 }
    }

    /// Writes these fields, or counts their bytes. Omitted ones have their defaults.
    @inlinable
    package static func write<ClientChangeToken: WireContent>(
        database: WireDatabaseScope = WireDatabaseScope(),
        policy: WireSavePolicy = WireSavePolicy(),
        atomic: Bool = false,
        clientChangeToken: ClientChangeToken = [UInt8](),
        to writer: inout WireWriter
    ) {
        guard !writer.isMeasuring else {
            var size = 0
            if database != WireDatabaseScope() { size += 1 + WireSize.choice(database) }
            if policy != WireSavePolicy() { size += 1 + WireSize.choice(policy) }
            if atomic { size += 1 + WireSize.flag(atomic) }
            if clientChangeToken.byteCount > 0 { size += 1 + WireSize.content(clientChangeToken) }
            return writer.count(size)
        }
        if database != WireDatabaseScope() {
            writer.number(8)
            writer.choice(database)
        }
        if policy != WireSavePolicy() {
            writer.number(24)
            writer.choice(policy)
        }
        if atomic {
            writer.number(32)
            writer.flag(atomic)
        }
        if clientChangeToken.byteCount > 0 {
            writer.number(50)
            writer.content(clientChangeToken)
        }
    }

    /// The size of the field `stamp`, if its message has `byteCount` bytes.
    @inlinable
    package static func size(stamp byteCount: Int) -> Int { 1 + WireSize.content(byteCount) }

    /// Writes tag and length of the field `stamp`. The bytes of its message must follow.
    @inlinable
    package static func begin(stamp byteCount: Int, to writer: inout WireWriter) {
        writer.number(18)
        writer.number(UInt64(byteCount))
    }

    /// The size of the field `zones`, if its message has `byteCount` bytes.
    @inlinable
    package static func size(zones byteCount: Int) -> Int { 1 + WireSize.content(byteCount) }

    /// Writes tag and length of the field `zones`. The bytes of its message must follow.
    @inlinable
    package static func begin(zones byteCount: Int, to writer: inout WireWriter) {
        writer.number(42)
        writer.number(UInt64(byteCount))
    }
}

/// Saves and deletes in one zone.
@usableFromInline
package struct WireZoneModifications: WireMessage {
    /// A request names each zone at most once.
    package var zone: WireZoneID {
        get { presentZone ?? WireZoneID() }
        set { presentZone = newValue }
    }
    package var hasZone: Bool { presentZone != nil }
    private var presentZone: WireZoneID?
    package var saves: [WireRecordSave] = []
    /// Record names.
    package var deletes: [String] = []

    @usableFromInline package init() {}
}

extension WireZoneModifications {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 10:
                var value = self.presentZone ?? WireZoneID()
                self.presentZone = nil
                try reader.read(&value)
                self.presentZone = value
            case 18: try reader.append(to: &self.saves, atMost: 4_096)
            case 26: try reader.append(to: &self.deletes, atMost: 4_096, bytesMax: 65_536)
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
        for value in saves {
            size += 1 + WireSize.message(value)
        }
        for value in deletes {
            size += 1 + WireSize.text(value)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        if let presentZone {
            writer.number(10)
            writer.message(presentZone)
        }
        for value in saves {
            writer.number(18)
            writer.message(value)
        }
        for value in deletes {
            writer.number(26)
            writer.text(value)
        }
    }
}

// Field by field, for hot loops that make no message objects.
extension WireZoneModifications {
    /// The fields' tags, as `WireReader.nextTag()` returns them.
    @usableFromInline
    package enum Tag {
        @inlinable package static var zone: UInt32 { 10 }
        @inlinable package static var saves: UInt32 { 18 }
        @inlinable package static var deletes: UInt32 { 26 }
    }

    /// The size of the field `zone`, if its message has `byteCount` bytes.
    @inlinable
    package static func size(zone byteCount: Int) -> Int { 1 + WireSize.content(byteCount) }

    /// Writes tag and length of the field `zone`. The bytes of its message must follow.
    @inlinable
    package static func begin(zone byteCount: Int, to writer: inout WireWriter) {
        writer.number(10)
        writer.number(UInt64(byteCount))
    }

    /// The size of the field `saves`, if its message has `byteCount` bytes.
    @inlinable
    package static func size(saves byteCount: Int) -> Int { 1 + WireSize.content(byteCount) }

    /// Writes tag and length of the field `saves`. The bytes of its message must follow.
    @inlinable
    package static func begin(saves byteCount: Int, to writer: inout WireWriter) {
        writer.number(18)
        writer.number(UInt64(byteCount))
    }
}

/// One record to save.
@usableFromInline
package struct WireRecordSave: WireMessage {
    package var name = ""
    package var type = ""
    /// As it came with the record. Empty: the client made the record itself.
    package var tag: [UInt8] = []
    /// The keys to write, as a FieldMap. Keys that were set to nil have the type FIELD_TYPE_REMOVED. With ALL_KEYS the
    /// client sends all keys that it has, with the other policies those that changed.
    package var fields: [UInt8] = []
    package var parentChange = WireParentChange()
    /// With PARENT_SET: the parent's record name.
    package var parent = ""
    /// Of a CKShare record: what becomes of the share. Absent: nothing.
    package var share: WireShareSave {
        get { presentShare ?? WireShareSave() }
        set { presentShare = newValue }
    }
    package var hasShare: Bool { presentShare != nil }
    private var presentShare: WireShareSave?

    @usableFromInline package init() {}
}

extension WireRecordSave {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 10: self.name = try reader.text(atMost: 65_536)
            case 18: self.type = try reader.text(atMost: 65_536)
            case 26: self.tag = try reader.content(atMost: 4_096)
            case 34: self.fields = try reader.content(atMost: 4_194_304)
            case 40: self.parentChange = try reader.choice()
            case 50: self.parent = try reader.text(atMost: 65_536)
            case 58:
                var value = self.presentShare ?? WireShareSave()
                self.presentShare = nil
                try reader.read(&value)
                self.presentShare = value
            default: try reader.skip(tag, known: 0xFE)
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
        if !tag.isEmpty {
            size += 1 + WireSize.content(tag)
        }
        if !fields.isEmpty {
            size += 1 + WireSize.content(fields)
        }
        if parentChange != WireParentChange() {
            size += 1 + WireSize.choice(parentChange)
        }
        if !parent.isEmpty {
            size += 1 + WireSize.text(parent)
        }
        if let presentShare {
            size += 1 + WireSize.message(presentShare)
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
        if !tag.isEmpty {
            writer.number(26)
            writer.content(tag)
        }
        if !fields.isEmpty {
            writer.number(34)
            writer.content(fields)
        }
        if parentChange != WireParentChange() {
            writer.number(40)
            writer.choice(parentChange)
        }
        if !parent.isEmpty {
            writer.number(50)
            writer.text(parent)
        }
        if let presentShare {
            writer.number(58)
            writer.message(presentShare)
        }
    }
}

// Field by field, for hot loops that make no message objects.
extension WireRecordSave {
    /// The fields' tags, as `WireReader.nextTag()` returns them.
    @usableFromInline
    package enum Tag {
        @inlinable package static var name: UInt32 { 10 }
        @inlinable package static var type: UInt32 { 18 }
        @inlinable package static var tag: UInt32 { 26 }
        @inlinable package static var fields: UInt32 { 34 }
        @inlinable package static var parentChange: UInt32 { 40 }
        @inlinable package static var parent: UInt32 { 50 }
        @inlinable package static var share: UInt32 { 58 }
    }

    /// Writes these fields, or counts their bytes. Omitted ones have their defaults.
    @inlinable
    package static func write<Tag: WireContent, Fields: WireContent>(
        name: String = "",
        type: String = "",
        tag: Tag = [UInt8](),
        fields: Fields = [UInt8](),
        parentChange: WireParentChange = WireParentChange(),
        parent: String = "",
        to writer: inout WireWriter
    ) {
        guard !writer.isMeasuring else {
            var size = 0
            if !name.isEmpty { size += 1 + WireSize.text(name) }
            if !type.isEmpty { size += 1 + WireSize.text(type) }
            if tag.byteCount > 0 { size += 1 + WireSize.content(tag) }
            if fields.byteCount > 0 { size += 1 + WireSize.content(fields) }
            if parentChange != WireParentChange() { size += 1 + WireSize.choice(parentChange) }
            if !parent.isEmpty { size += 1 + WireSize.text(parent) }
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
        if tag.byteCount > 0 {
            writer.number(26)
            writer.content(tag)
        }
        if fields.byteCount > 0 {
            writer.number(34)
            writer.content(fields)
        }
        if parentChange != WireParentChange() {
            writer.number(40)
            writer.choice(parentChange)
        }
        if !parent.isEmpty {
            writer.number(50)
            writer.text(parent)
        }
    }

    /// The size of the field `share`, if its message has `byteCount` bytes.
    @inlinable
    package static func size(share byteCount: Int) -> Int { 1 + WireSize.content(byteCount) }

    /// Writes tag and length of the field `share`. The bytes of its message must follow.
    @inlinable
    package static func begin(share byteCount: Int, to writer: inout WireWriter) {
        writer.number(58)
        writer.number(UInt64(byteCount))
    }
}

/// The outcome of a ModifyRecords.
@usableFromInline
package struct WireModifyRecordsAnswer: WireMessage {
    /// One for each zone, in the order of the request.
    package var zones: [WireZoneModificationResults] = []

    @usableFromInline package init() {}
}

extension WireModifyRecordsAnswer {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 10: try reader.append(to: &self.zones, atMost: 65_536)
            default: try reader.skip(tag, known: 0x2)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        for value in zones {
            size += 1 + WireSize.message(value)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        for value in zones {
            writer.number(10)
            writer.message(value)
        }
    }
}

// Field by field, for hot loops that make no message objects.
extension WireModifyRecordsAnswer {
    /// The fields' tags, as `WireReader.nextTag()` returns them.
    @usableFromInline
    package enum Tag {
        @inlinable package static var zones: UInt32 { 10 }
    }

    /// The size of the field `zones`, if its message has `byteCount` bytes.
    @inlinable
    package static func size(zones byteCount: Int) -> Int { 1 + WireSize.content(byteCount) }

    /// Writes tag and length of the field `zones`. The bytes of its message must follow.
    @inlinable
    package static func begin(zones byteCount: Int, to writer: inout WireWriter) {
        writer.number(10)
        writer.number(UInt64(byteCount))
    }
}

/// The outcomes in one zone.
@usableFromInline
package struct WireZoneModificationResults: WireMessage {
    /// One for each save, in the order of the request.
    package var saves: [WireSaveResult] = []
    /// One for each delete, in the order of the request.
    package var deletes: [WireDeleteResult] = []

    @usableFromInline package init() {}
}

extension WireZoneModificationResults {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 10: try reader.append(to: &self.saves, atMost: 65_536)
            case 18: try reader.append(to: &self.deletes, atMost: 65_536)
            default: try reader.skip(tag, known: 0x6)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        for value in saves {
            size += 1 + WireSize.message(value)
        }
        for value in deletes {
            size += 1 + WireSize.message(value)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        for value in saves {
            writer.number(10)
            writer.message(value)
        }
        for value in deletes {
            writer.number(18)
            writer.message(value)
        }
    }
}

// Field by field, for hot loops that make no message objects.
extension WireZoneModificationResults {
    /// The fields' tags, as `WireReader.nextTag()` returns them.
    @usableFromInline
    package enum Tag {
        @inlinable package static var saves: UInt32 { 10 }
        @inlinable package static var deletes: UInt32 { 18 }
    }

    /// The size of the field `saves`, if its message has `byteCount` bytes.
    @inlinable
    package static func size(saves byteCount: Int) -> Int { 1 + WireSize.content(byteCount) }

    /// Writes tag and length of the field `saves`. The bytes of its message must follow.
    @inlinable
    package static func begin(saves byteCount: Int, to writer: inout WireWriter) {
        writer.number(10)
        writer.number(UInt64(byteCount))
    }

    /// The size of the field `deletes`, if its message has `byteCount` bytes.
    @inlinable
    package static func size(deletes byteCount: Int) -> Int { 1 + WireSize.content(byteCount) }

    /// Writes tag and length of the field `deletes`. The bytes of its message must follow.
    @inlinable
    package static func begin(deletes byteCount: Int, to writer: inout WireWriter) {
        writer.number(18)
        writer.number(UInt64(byteCount))
    }
}

/// The outcome of one save.
@usableFromInline
package struct WireSaveResult: WireMessage {
    /// One of these, or none.
    package enum OneOfResult: Sendable, Equatable {
        case saved(WireSavedRecord)
        case failure(WireSaveFailure)
    }

    package var result: OneOfResult?

    package var saved: WireSavedRecord {
        get {
            if case .saved(let value)? = result { value } else { WireSavedRecord() }
        }
        set { result = .saved(newValue) }
    }

    package var failure: WireSaveFailure {
        get {
            if case .failure(let value)? = result { value } else { WireSaveFailure() }
        }
        set { result = .failure(newValue) }
    }

    @usableFromInline package init() {}
}

extension WireSaveResult {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 10:
                var value = self.saved
                self.result = nil
                try reader.read(&value)
                self.result = .saved(value)
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
        case .saved(let value)?:
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
        case .saved(let value)?:
            writer.number(10)
            writer.message(value)
        case .failure(let value)?:
            writer.number(18)
            writer.message(value)
        case nil: break
        }
    }
}

// Field by field, for hot loops that make no message objects.
extension WireSaveResult {
    /// The fields' tags, as `WireReader.nextTag()` returns them.
    @usableFromInline
    package enum Tag {
        @inlinable package static var saved: UInt32 { 10 }
        @inlinable package static var failure: UInt32 { 18 }
    }

    /// The size of the field `saved`, if its message has `byteCount` bytes.
    @inlinable
    package static func size(saved byteCount: Int) -> Int { 1 + WireSize.content(byteCount) }

    /// Writes tag and length of the field `saved`. The bytes of its message must follow.
    @inlinable
    package static func begin(saved byteCount: Int, to writer: inout WireWriter) {
        writer.number(10)
        writer.number(UInt64(byteCount))
    }

    /// The size of the field `failure`, if its message has `byteCount` bytes.
    @inlinable
    package static func size(failure byteCount: Int) -> Int { 1 + WireSize.content(byteCount) }

    /// Writes tag and length of the field `failure`. The bytes of its message must follow.
    @inlinable
    package static func begin(failure byteCount: Int, to writer: inout WireWriter) {
        writer.number(18)
        writer.number(UInt64(byteCount))
    }
}

/// What the server added to a saved record.
@usableFromInline
package struct WireSavedRecord: WireMessage {
    package var tag: [UInt8] = []
    package var createdAt: Int64 = 0
    package var modifiedAt: Int64 = 0
    /// User record names. Empty: the caller.
    package var createdBy = ""
    package var modifiedBy = ""
    /// The whole record after the save, if the save's tag was not that of the version that it changed, or if
    /// there was none. The client's copy may lack what others have saved. So the client replaces it, but for edits that
    /// were made since the save was sent.
    package var record: WireRecord {
        get { presentRecord ?? WireRecord() }
        set { presentRecord = newValue }
    }
    package var hasRecord: Bool { presentRecord != nil }
    private var presentRecord: WireRecord?
    /// Whether the client would need that record, but the answer does not have it: it would become too large, or the
    /// record has changed again since. Then fetch it. Until then the copy must not get the new tag, which would hide
    /// from the next save what it lacks.
    package var mustFetch = false

    @usableFromInline package init() {}
}

extension WireSavedRecord {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 10: self.tag = try reader.content()
            case 16: self.createdAt = try reader.int64()
            case 24: self.modifiedAt = try reader.int64()
            case 34: self.createdBy = try reader.text()
            case 42: self.modifiedBy = try reader.text()
            case 50:
                var value = self.presentRecord ?? WireRecord()
                self.presentRecord = nil
                try reader.read(&value)
                self.presentRecord = value
            case 56: self.mustFetch = try reader.flag()
            default: try reader.skip(tag, known: 0xFE)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        if !tag.isEmpty {
            size += 1 + WireSize.content(tag)
        }
        if createdAt != 0 {
            size += 1 + WireSize.int64(createdAt)
        }
        if modifiedAt != 0 {
            size += 1 + WireSize.int64(modifiedAt)
        }
        if !createdBy.isEmpty {
            size += 1 + WireSize.text(createdBy)
        }
        if !modifiedBy.isEmpty {
            size += 1 + WireSize.text(modifiedBy)
        }
        if let presentRecord {
            size += 1 + WireSize.message(presentRecord)
        }
        if mustFetch {
            size += 1 + WireSize.flag(mustFetch)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        if !tag.isEmpty {
            writer.number(10)
            writer.content(tag)
        }
        if createdAt != 0 {
            writer.number(16)
            writer.int64(createdAt)
        }
        if modifiedAt != 0 {
            writer.number(24)
            writer.int64(modifiedAt)
        }
        if !createdBy.isEmpty {
            writer.number(34)
            writer.text(createdBy)
        }
        if !modifiedBy.isEmpty {
            writer.number(42)
            writer.text(modifiedBy)
        }
        if let presentRecord {
            writer.number(50)
            writer.message(presentRecord)
        }
        if mustFetch {
            writer.number(56)
            writer.flag(mustFetch)
        }
    }
}

// Field by field, for hot loops that make no message objects.
extension WireSavedRecord {
    /// The fields' tags, as `WireReader.nextTag()` returns them.
    @usableFromInline
    package enum Tag {
        @inlinable package static var tag: UInt32 { 10 }
        @inlinable package static var createdAt: UInt32 { 16 }
        @inlinable package static var modifiedAt: UInt32 { 24 }
        @inlinable package static var createdBy: UInt32 { 34 }
        @inlinable package static var modifiedBy: UInt32 { 42 }
        @inlinable package static var record: UInt32 { 50 }
        @inlinable package static var mustFetch: UInt32 { 56 }
    }

    /// Writes these fields, or counts their bytes. Omitted ones have their defaults.
    @inlinable
    package static func write<Tag: WireContent>(
        tag: Tag = [UInt8](),
        createdAt: Int64 = 0,
        modifiedAt: Int64 = 0,
        createdBy: String = "",
        modifiedBy: String = "",
        mustFetch: Bool = false,
        to writer: inout WireWriter
    ) {
        guard !writer.isMeasuring else {
            var size = 0
            if tag.byteCount > 0 { size += 1 + WireSize.content(tag) }
            if createdAt != 0 { size += 1 + WireSize.int64(createdAt) }
            if modifiedAt != 0 { size += 1 + WireSize.int64(modifiedAt) }
            if !createdBy.isEmpty { size += 1 + WireSize.text(createdBy) }
            if !modifiedBy.isEmpty { size += 1 + WireSize.text(modifiedBy) }
            if mustFetch { size += 1 + WireSize.flag(mustFetch) }
            return writer.count(size)
        }
        if tag.byteCount > 0 {
            writer.number(10)
            writer.content(tag)
        }
        if createdAt != 0 {
            writer.number(16)
            writer.int64(createdAt)
        }
        if modifiedAt != 0 {
            writer.number(24)
            writer.int64(modifiedAt)
        }
        if !createdBy.isEmpty {
            writer.number(34)
            writer.text(createdBy)
        }
        if !modifiedBy.isEmpty {
            writer.number(42)
            writer.text(modifiedBy)
        }
        if mustFetch {
            writer.number(56)
            writer.flag(mustFetch)
        }
    }

    /// The size of the field `record`, if its message has `byteCount` bytes.
    @inlinable
    package static func size(record byteCount: Int) -> Int { 1 + WireSize.content(byteCount) }

    /// Writes tag and length of the field `record`. The bytes of its message must follow.
    @inlinable
    package static func begin(record byteCount: Int, to writer: inout WireWriter) {
        writer.number(50)
        writer.number(UInt64(byteCount))
    }
}

/// Why a record was not saved.
@usableFromInline
package struct WireSaveFailure: WireMessage {
    package var failure: WireFailure {
        get { presentFailure ?? WireFailure() }
        set { presentFailure = newValue }
    }
    package var hasFailure: Bool { presentFailure != nil }
    private var presentFailure: WireFailure?
    /// With SERVER_RECORD_CHANGED: the server's whole record. Absent if the answer would become too large. Then
    /// fetch it.
    package var serverRecord: WireRecord {
        get { presentServerRecord ?? WireRecord() }
        set { presentServerRecord = newValue }
    }
    package var hasServerRecord: Bool { presentServerRecord != nil }
    private var presentServerRecord: WireRecord?

    @usableFromInline package init() {}
}

extension WireSaveFailure {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 10:
                var value = self.presentFailure ?? WireFailure()
                self.presentFailure = nil
                try reader.read(&value)
                self.presentFailure = value
            case 18:
                var value = self.presentServerRecord ?? WireRecord()
                self.presentServerRecord = nil
                try reader.read(&value)
                self.presentServerRecord = value
            default: try reader.skip(tag, known: 0x6)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        if let presentFailure {
            size += 1 + WireSize.message(presentFailure)
        }
        if let presentServerRecord {
            size += 1 + WireSize.message(presentServerRecord)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        if let presentFailure {
            writer.number(10)
            writer.message(presentFailure)
        }
        if let presentServerRecord {
            writer.number(18)
            writer.message(presentServerRecord)
        }
    }
}

// Field by field, for hot loops that make no message objects.
extension WireSaveFailure {
    /// The fields' tags, as `WireReader.nextTag()` returns them.
    @usableFromInline
    package enum Tag {
        @inlinable package static var failure: UInt32 { 10 }
        @inlinable package static var serverRecord: UInt32 { 18 }
    }

    /// The size of the field `failure`, if its message has `byteCount` bytes.
    @inlinable
    package static func size(failure byteCount: Int) -> Int { 1 + WireSize.content(byteCount) }

    /// Writes tag and length of the field `failure`. The bytes of its message must follow.
    @inlinable
    package static func begin(failure byteCount: Int, to writer: inout WireWriter) {
        writer.number(10)
        writer.number(UInt64(byteCount))
    }

    /// The size of the field `serverRecord`, if its message has `byteCount` bytes.
    @inlinable
    package static func size(serverRecord byteCount: Int) -> Int { 1 + WireSize.content(byteCount) }

    /// Writes tag and length of the field `serverRecord`. The bytes of its message must follow.
    @inlinable
    package static func begin(serverRecord byteCount: Int, to writer: inout WireWriter) {
        writer.number(18)
        writer.number(UInt64(byteCount))
    }
}

/// The outcome of one delete.
@usableFromInline
package struct WireDeleteResult: WireMessage {
    /// One of these, or none.
    package enum OneOfResult: Sendable, Equatable {
        case deleted(WireDone)
        case failure(WireFailure)
    }

    package var result: OneOfResult?

    package var deleted: WireDone {
        get {
            if case .deleted(let value)? = result { value } else { WireDone() }
        }
        set { result = .deleted(newValue) }
    }

    package var failure: WireFailure {
        get {
            if case .failure(let value)? = result { value } else { WireFailure() }
        }
        set { result = .failure(newValue) }
    }

    @usableFromInline package init() {}
}

extension WireDeleteResult {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 10:
                var value = self.deleted
                self.result = nil
                try reader.read(&value)
                self.result = .deleted(value)
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
        case .deleted(let value)?:
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
        case .deleted(let value)?:
            writer.number(10)
            writer.message(value)
        case .failure(let value)?:
            writer.number(18)
            writer.message(value)
        case nil: break
        }
    }
}

// Field by field, for hot loops that make no message objects.
extension WireDeleteResult {
    /// The fields' tags, as `WireReader.nextTag()` returns them.
    @usableFromInline
    package enum Tag {
        @inlinable package static var deleted: UInt32 { 10 }
        @inlinable package static var failure: UInt32 { 18 }
    }

    /// The size of the field `deleted`, if its message has `byteCount` bytes.
    @inlinable
    package static func size(deleted byteCount: Int) -> Int { 1 + WireSize.content(byteCount) }

    /// Writes tag and length of the field `deleted`. The bytes of its message must follow.
    @inlinable
    package static func begin(deleted byteCount: Int, to writer: inout WireWriter) {
        writer.number(10)
        writer.number(UInt64(byteCount))
    }

    /// The size of the field `failure`, if its message has `byteCount` bytes.
    @inlinable
    package static func size(failure byteCount: Int) -> Int { 1 + WireSize.content(byteCount) }

    /// Writes tag and length of the field `failure`. The bytes of its message must follow.
    @inlinable
    package static func begin(failure byteCount: Int, to writer: inout WireWriter) {
        writer.number(18)
        writer.number(UInt64(byteCount))
    }
}

/// Asks for records by their names.
@usableFromInline
package struct WireFetchRecords: WireMessage {
    package var database = WireDatabaseScope()
    package var zones: [WireZoneRecordNames] = []
    package var desiredKeys: WireDesiredKeys {
        get { presentDesiredKeys ?? WireDesiredKeys() }
        set { presentDesiredKeys = newValue }
    }
    package var hasDesiredKeys: Bool { presentDesiredKeys != nil }
    private var presentDesiredKeys: WireDesiredKeys?

    @usableFromInline package init() {}
}

extension WireFetchRecords {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 8: self.database = try reader.choice()
            case 18: try reader.append(to: &self.zones, atMost: 4_096)
            case 26:
                var value = self.presentDesiredKeys ?? WireDesiredKeys()
                self.presentDesiredKeys = nil
                try reader.read(&value)
                self.presentDesiredKeys = value
            default: try reader.skip(tag, known: 0xE)
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
        if let presentDesiredKeys {
            size += 1 + WireSize.message(presentDesiredKeys)
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
        if let presentDesiredKeys {
            writer.number(26)
            writer.message(presentDesiredKeys)
        }
    }
}

/// Names of records in one zone.
@usableFromInline
package struct WireZoneRecordNames: WireMessage {
    package var zone: WireZoneID {
        get { presentZone ?? WireZoneID() }
        set { presentZone = newValue }
    }
    package var hasZone: Bool { presentZone != nil }
    private var presentZone: WireZoneID?
    package var names: [String] = []

    @usableFromInline package init() {}
}

extension WireZoneRecordNames {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 10:
                var value = self.presentZone ?? WireZoneID()
                self.presentZone = nil
                try reader.read(&value)
                self.presentZone = value
            case 18: try reader.append(to: &self.names, atMost: 4_096, bytesMax: 65_536)
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
        for value in names {
            size += 1 + WireSize.text(value)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        if let presentZone {
            writer.number(10)
            writer.message(presentZone)
        }
        for value in names {
            writer.number(18)
            writer.text(value)
        }
    }
}

/// The outcome of a FetchRecords.
@usableFromInline
package struct WireFetchRecordsAnswer: WireMessage {
    /// In the order of the request.
    package var results: [WireRecordResult] = []
    /// How many names of the request this answer covers, in order. If the answer would become too large, it covers
    /// fewer. Then ask again for the rest.
    package var covered: UInt32 = 0

    @usableFromInline package init() {}
}

extension WireFetchRecordsAnswer {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 10: try reader.append(to: &self.results, atMost: 65_536)
            case 16: self.covered = try reader.uint32()
            default: try reader.skip(tag, known: 0x6)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        for value in results {
            size += 1 + WireSize.message(value)
        }
        if covered != 0 {
            size += 1 + WireSize.uint32(covered)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        for value in results {
            writer.number(10)
            writer.message(value)
        }
        if covered != 0 {
            writer.number(16)
            writer.uint32(covered)
        }
    }
}

// Field by field, for hot loops that make no message objects.
extension WireFetchRecordsAnswer {
    /// The fields' tags, as `WireReader.nextTag()` returns them.
    @usableFromInline
    package enum Tag {
        @inlinable package static var results: UInt32 { 10 }
        @inlinable package static var covered: UInt32 { 16 }
    }

    /// Writes these fields, or counts their bytes. Omitted ones have their defaults.
    @inlinable
    package static func write(covered: UInt32 = 0, to writer: inout WireWriter) {
        guard !writer.isMeasuring else {
            var size = 0
            if covered != 0 { size += 1 + WireSize.uint32(covered) }
            return writer.count(size)
        }
        if covered != 0 {
            writer.number(16)
            writer.uint32(covered)
        }
    }

    /// The size of the field `results`, if its message has `byteCount` bytes.
    @inlinable
    package static func size(results byteCount: Int) -> Int { 1 + WireSize.content(byteCount) }

    /// Writes tag and length of the field `results`. The bytes of its message must follow.
    @inlinable
    package static func begin(results byteCount: Int, to writer: inout WireWriter) {
        writer.number(10)
        writer.number(UInt64(byteCount))
    }
}

/// A record, or why it cannot be had.
@usableFromInline
package struct WireRecordResult: WireMessage {
    /// One of these, or none.
    package enum OneOfResult: Sendable, Equatable {
        case record(WireRecord)
        case failure(WireFailure)
    }

    package var result: OneOfResult?

    package var record: WireRecord {
        get {
            if case .record(let value)? = result { value } else { WireRecord() }
        }
        set { result = .record(newValue) }
    }

    package var failure: WireFailure {
        get {
            if case .failure(let value)? = result { value } else { WireFailure() }
        }
        set { result = .failure(newValue) }
    }

    @usableFromInline package init() {}
}

extension WireRecordResult {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 10:
                var value = self.record
                self.result = nil
                try reader.read(&value)
                self.result = .record(value)
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
        case .record(let value)?:
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
        case .record(let value)?:
            writer.number(10)
            writer.message(value)
        case .failure(let value)?:
            writer.number(18)
            writer.message(value)
        case nil: break
        }
    }
}

// Field by field, for hot loops that make no message objects.
extension WireRecordResult {
    /// The fields' tags, as `WireReader.nextTag()` returns them.
    @usableFromInline
    package enum Tag {
        @inlinable package static var record: UInt32 { 10 }
        @inlinable package static var failure: UInt32 { 18 }
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

    /// The size of the field `failure`, if its message has `byteCount` bytes.
    @inlinable
    package static func size(failure byteCount: Int) -> Int { 1 + WireSize.content(byteCount) }

    /// Writes tag and length of the field `failure`. The bytes of its message must follow.
    @inlinable
    package static func begin(failure byteCount: Int, to writer: inout WireWriter) {
        writer.number(18)
        writer.number(UInt64(byteCount))
    }
}

/// CloudKit's save policies (section 5 of the rules).
@usableFromInline
package enum WireSavePolicy: WireChoice {
    case ifServerRecordUnchanged
    case changedKeys
    case allKeys
    /// A value that this version does not know.
    case unrecognized(Int32)

    @usableFromInline package init() { self = .ifServerRecordUnchanged }

    @usableFromInline
    package init(rawValue: Int32) {
        switch rawValue {
        case 0: self = .ifServerRecordUnchanged
        case 1: self = .changedKeys
        case 2: self = .allKeys
        default: self = .unrecognized(rawValue)
        }
    }

    @usableFromInline
    package var rawValue: Int32 {
        switch self {
        case .ifServerRecordUnchanged: 0
        case .changedKeys: 1
        case .allKeys: 2
        case .unrecognized(let number): number
        }
    }
}

/// What a save does to the record's parent.
@usableFromInline
package enum WireParentChange: WireChoice {
    case parentUnchanged
    case parentSet
    case parentRemoved
    /// A value that this version does not know.
    case unrecognized(Int32)

    @usableFromInline package init() { self = .parentUnchanged }

    @usableFromInline
    package init(rawValue: Int32) {
        switch rawValue {
        case 0: self = .parentUnchanged
        case 1: self = .parentSet
        case 2: self = .parentRemoved
        default: self = .unrecognized(rawValue)
        }
    }

    @usableFromInline
    package var rawValue: Int32 {
        switch self {
        case .parentUnchanged: 0
        case .parentSet: 1
        case .parentRemoved: 2
        case .unrecognized(let number): number
        }
    }
}
