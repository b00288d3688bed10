// SPDX-License-Identifier: Apache-2.0
//
// Made by tidemark-wire-generator from Protos/Zones.proto. Change that, and run `make protocol`.

public import TidemarkBytes

/// The name of a zone, and whose zone it is.
@usableFromInline
package struct WireZoneID: WireMessage {
    /// 1 to 255 printable ASCII characters. Only "_defaultZone" begins with "_".
    package var name = ""
    /// The owner's user record name. Empty or "__defaultOwner__": the caller.
    package var owner = ""

    @usableFromInline package init() {}
}

extension WireZoneID {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 10: self.name = try reader.text(atMost: 4_096)
            case 18: self.owner = try reader.text(atMost: 4_096)
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
        if !owner.isEmpty {
            size += 1 + WireSize.text(owner)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        if !name.isEmpty {
            writer.number(10)
            writer.text(name)
        }
        if !owner.isEmpty {
            writer.number(18)
            writer.text(owner)
        }
    }
}

// Field by field, for hot loops that make no message objects.
extension WireZoneID {
    /// The fields' tags, as `WireReader.nextTag()` returns them.
    @usableFromInline
    package enum Tag {
        @inlinable package static var name: UInt32 { 10 }
        @inlinable package static var owner: UInt32 { 18 }
    }

    /// Writes these fields, or counts their bytes. Omitted ones have their defaults.
    @inlinable
    package static func write(name: String = "", owner: String = "", to writer: inout WireWriter) {
        guard !writer.isMeasuring else {
            var size = 0
            if !name.isEmpty { size += 1 + WireSize.text(name) }
            if !owner.isEmpty { size += 1 + WireSize.text(owner) }
            return writer.count(size)
        }
        if !name.isEmpty {
            writer.number(10)
            writer.text(name)
        }
        if !owner.isEmpty {
            writer.number(18)
            writer.text(owner)
        }
    }
}

/// A zone as the server sends it.
@usableFromInline
package struct WireZone: WireMessage {
    package var id: WireZoneID {
        get { presentID ?? WireZoneID() }
        set { presentID = newValue }
    }
    package var hasID: Bool { presentID != nil }
    private var presentID: WireZoneID?
    /// Bits as in CKRecordZone.Capabilities.
    package var capabilities: UInt32 = 0
    package var encryptionScope = WireEncryptionScope()
    /// Whether the whole zone is shared, with the CKShare record "cloudkit.zoneshare".
    package var isShared = false

    @usableFromInline package init() {}
}

extension WireZone {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 10:
                var value = self.presentID ?? WireZoneID()
                self.presentID = nil
                try reader.read(&value)
                self.presentID = value
            case 16: self.capabilities = try reader.uint32()
            case 24: self.encryptionScope = try reader.choice()
            case 32: self.isShared = try reader.flag()
            default: try reader.skip(tag, known: 0x1E)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        if let presentID {
            size += 1 + WireSize.message(presentID)
        }
        if capabilities != 0 {
            size += 1 + WireSize.uint32(capabilities)
        }
        if encryptionScope != WireEncryptionScope() {
            size += 1 + WireSize.choice(encryptionScope)
        }
        if isShared {
            size += 1 + WireSize.flag(isShared)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        if let presentID {
            writer.number(10)
            writer.message(presentID)
        }
        if capabilities != 0 {
            writer.number(16)
            writer.uint32(capabilities)
        }
        if encryptionScope != WireEncryptionScope() {
            writer.number(24)
            writer.choice(encryptionScope)
        }
        if isShared {
            writer.number(32)
            writer.flag(isShared)
        }
    }
}

/// Creates and deletes zones. It is not atomic: each zone has its own result.
@usableFromInline
package struct WireModifyZones: WireMessage {
    package var database = WireDatabaseScope()
    package var stamp: WireRequestStamp {
        get { presentStamp ?? WireRequestStamp() }
        set { presentStamp = newValue }
    }
    package var hasStamp: Bool { presentStamp != nil }
    private var presentStamp: WireRequestStamp?
    package var saves: [WireZoneID] = []
    package var deletes: [WireZoneID] = []
    /// One for each save, in that order. Those that are missing at the end are unspecified.
    package var encryptionScopes: [WireEncryptionScope] = []

    @usableFromInline package init() {}
}

extension WireModifyZones {
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
            case 26: try reader.append(to: &self.saves, atMost: 4_096)
            case 34: try reader.append(to: &self.deletes, atMost: 4_096)
            case 42:
                try reader.appendPacked(to: &self.encryptionScopes, atMost: 4_096) { (reader) throws(WireError) in
                    try reader.choice()
                }
            case 40:
                try reader.append(to: &self.encryptionScopes, atMost: 4_096) { (reader) throws(WireError) in
                    try reader.choice()
                }
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
        if let presentStamp {
            size += 1 + WireSize.message(presentStamp)
        }
        for value in saves {
            size += 1 + WireSize.message(value)
        }
        for value in deletes {
            size += 1 + WireSize.message(value)
        }
        if !encryptionScopes.isEmpty {
            let length = encryptionScopes.reduce(0) { $0 + WireSize.choice($1) }
            size += 1 + WireSize.content(length)
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
        for value in saves {
            writer.number(26)
            writer.message(value)
        }
        for value in deletes {
            writer.number(34)
            writer.message(value)
        }
        if !encryptionScopes.isEmpty {
            writer.number(42)
            writer.number(UInt64(encryptionScopes.reduce(0) { $0 + WireSize.choice($1) }))
            for value in encryptionScopes { writer.choice(value) }
        }
    }
}

/// The outcome of a ModifyZones.
@usableFromInline
package struct WireModifyZonesAnswer: WireMessage {
    /// One for each save, in the order of the request.
    package var saves: [WireZoneResult] = []
    /// One for each delete, in the order of the request. A success has no zone.
    package var deletes: [WireZoneResult] = []

    @usableFromInline package init() {}
}

extension WireModifyZonesAnswer {
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

/// A zone, or why it was not saved, deleted or found.
@usableFromInline
package struct WireZoneResult: WireMessage {
    /// One of these, or none.
    package enum OneOfResult: Sendable, Equatable {
        case zone(WireZone)
        case failure(WireFailure)
        case done(WireDone)
    }

    package var result: OneOfResult?

    package var zone: WireZone {
        get {
            if case .zone(let value)? = result { value } else { WireZone() }
        }
        set { result = .zone(newValue) }
    }

    package var failure: WireFailure {
        get {
            if case .failure(let value)? = result { value } else { WireFailure() }
        }
        set { result = .failure(newValue) }
    }

    package var done: WireDone {
        get {
            if case .done(let value)? = result { value } else { WireDone() }
        }
        set { result = .done(newValue) }
    }

    @usableFromInline package init() {}
}

extension WireZoneResult {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 10:
                var value = self.zone
                self.result = nil
                try reader.read(&value)
                self.result = .zone(value)
            case 18:
                var value = self.failure
                self.result = nil
                try reader.read(&value)
                self.result = .failure(value)
            case 26:
                var value = self.done
                self.result = nil
                try reader.read(&value)
                self.result = .done(value)
            default: try reader.skip(tag, known: 0xE)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        switch result {
        case .zone(let value)?:
            size += 1 + WireSize.message(value)
        case .failure(let value)?:
            size += 1 + WireSize.message(value)
        case .done(let value)?:
            size += 1 + WireSize.message(value)
        case nil: break
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        switch result {
        case .zone(let value)?:
            writer.number(10)
            writer.message(value)
        case .failure(let value)?:
            writer.number(18)
            writer.message(value)
        case .done(let value)?:
            writer.number(26)
            writer.message(value)
        case nil: break
        }
    }
}

/// Success, with nothing to return.
@usableFromInline
package struct WireDone: WireMessage {
    @usableFromInline package init() {}
}

extension WireDone {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            try reader.skip(tag, known: 0x0)
        }
    }

    @usableFromInline package var size: Int { 0 }

    @usableFromInline
    package func write(to writer: inout WireWriter) {}
}

/// Asks for zones.
@usableFromInline
package struct WireFetchZones: WireMessage {
    package var database = WireDatabaseScope()
    /// Empty: all zones of the database, in pages.
    package var zones: [WireZoneID] = []
    /// From the previous answer, for all zones only. Empty: from the first zone.
    package var cursor: [UInt8] = []

    @usableFromInline package init() {}
}

extension WireFetchZones {
    @usableFromInline package static var elementsInAllMax: Int { 4200 }

    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 8: self.database = try reader.choice()
            case 18: try reader.append(to: &self.zones, atMost: 4_096)
            case 26: self.cursor = try reader.content(atMost: 1_024)
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
        if !cursor.isEmpty {
            size += 1 + WireSize.content(cursor)
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
        if !cursor.isEmpty {
            writer.number(26)
            writer.content(cursor)
        }
    }
}

/// The outcome of a FetchZones.
@usableFromInline
package struct WireFetchZonesAnswer: WireMessage {
    /// In the order of the request. If it named no zone: one page of all zones, oldest first. If a zone is deleted and
    /// created again between two pages, both may have one of its name. The later one lives.
    package var zones: [WireZoneResult] = []
    /// Where to go on. Empty: there is no more. It is opaque.
    package var cursor: [UInt8] = []

    @usableFromInline package init() {}
}

extension WireFetchZonesAnswer {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 10: try reader.append(to: &self.zones, atMost: 65_536)
            case 18: self.cursor = try reader.content()
            default: try reader.skip(tag, known: 0x6)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        for value in zones {
            size += 1 + WireSize.message(value)
        }
        if !cursor.isEmpty {
            size += 1 + WireSize.content(cursor)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        for value in zones {
            writer.number(10)
            writer.message(value)
        }
        if !cursor.isEmpty {
            writer.number(18)
            writer.content(cursor)
        }
    }
}

/// Whether records are encrypted one by one or with their zone. It is chosen when a zone is created, and never
/// changes.
@usableFromInline
package enum WireEncryptionScope: WireChoice {
    /// In a request: that of the zone; PER_RECORD for a new one. In an answer: not said.
    case unspecified
    case perRecord
    case perZone
    /// A value that this version does not know.
    case unrecognized(Int32)

    @usableFromInline package init() { self = .unspecified }

    @usableFromInline
    package init(rawValue: Int32) {
        switch rawValue {
        case 0: self = .unspecified
        case 1: self = .perRecord
        case 2: self = .perZone
        default: self = .unrecognized(rawValue)
        }
    }

    @usableFromInline
    package var rawValue: Int32 {
        switch self {
        case .unspecified: 0
        case .perRecord: 1
        case .perZone: 2
        case .unrecognized(let number): number
        }
    }
}
