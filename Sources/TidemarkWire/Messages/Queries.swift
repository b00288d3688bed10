// SPDX-License-Identifier: Apache-2.0
//
// Made by tidemark-wire-generator from Protos/Queries.proto. Change that, and run `make protocol`.

public import TidemarkBytes

/// Which records are wanted, and in which order.
@usableFromInline
package struct WireQuery: WireMessage {
    package var recordType = ""
    /// Absent: all zones of the database. In the shared database it must be present.
    package var zone: WireZoneID {
        get { presentZone ?? WireZoneID() }
        set { presentZone = newValue }
    }
    package var hasZone: Bool { presentZone != nil }
    private var presentZone: WireZoneID?
    /// Absent: all records of the type.
    package var predicate: WirePredicate {
        get { presentPredicate ?? WirePredicate() }
        set { presentPredicate = newValue }
    }
    package var hasPredicate: Bool { presentPredicate != nil }
    private var presentPredicate: WirePredicate?
    /// Applied in order. Ties are broken by record name, then by zone. Empty: by creation date. At most 16.
    package var sorts: [WireSort] = []

    @usableFromInline package init() {}
}

extension WireQuery {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 10: self.recordType = try reader.text(atMost: 65_536)
            case 18:
                var value = self.presentZone ?? WireZoneID()
                self.presentZone = nil
                try reader.read(&value)
                self.presentZone = value
            case 26:
                var value = self.presentPredicate ?? WirePredicate()
                self.presentPredicate = nil
                try reader.read(&value)
                self.presentPredicate = value
            case 34: try reader.append(to: &self.sorts, atMost: 20)
            default: try reader.skip(tag, known: 0x1E)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        if !recordType.isEmpty {
            size += 1 + WireSize.text(recordType)
        }
        if let presentZone {
            size += 1 + WireSize.message(presentZone)
        }
        if let presentPredicate {
            size += 1 + WireSize.message(presentPredicate)
        }
        for value in sorts {
            size += 1 + WireSize.message(value)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        if !recordType.isEmpty {
            writer.number(10)
            writer.text(recordType)
        }
        if let presentZone {
            writer.number(18)
            writer.message(presentZone)
        }
        if let presentPredicate {
            writer.number(26)
            writer.message(presentPredicate)
        }
        for value in sorts {
            writer.number(34)
            writer.message(value)
        }
    }
}

/// A condition. It is true or false for each record, never unknown. A comparison with a key that the record lacks, or
/// with a value of another type, is false, and its negation is true. A server accepts a depth of 32, and 1,500
/// conditions and values in total.
@usableFromInline
package struct WirePredicate: WireMessage {
    /// One of these, or none.
    package enum OneOfNode: Sendable, Equatable {
        case always(Bool)
        case compare(WireComparison)
        case between(WireBetween)
        /// Case-sensitive.
        case beginsWith(WireBeginsWith)
        /// The key's value is one of these.
        case isIn(WireKeyValues)
        /// The key's list has this element.
        case contains(WireKeyValue)
        /// The key's list has one of these elements.
        case containsAny(WireKeyValues)
        case isPresent(WirePresence)
        case isNear(WireNear)
        /// All of its words are in the record's searchable fields.
        case search(String)
        indirect case and(WirePredicates)
        /// Not of AND, of a search, of a distance or of BETWEEN.
        indirect case not(WirePredicate)
    }

    package var node: OneOfNode?

    package var always: Bool {
        get {
            if case .always(let value)? = node { value } else { false }
        }
        set { node = .always(newValue) }
    }

    package var compare: WireComparison {
        get {
            if case .compare(let value)? = node { value } else { WireComparison() }
        }
        set { node = .compare(newValue) }
    }

    package var between: WireBetween {
        get {
            if case .between(let value)? = node { value } else { WireBetween() }
        }
        set { node = .between(newValue) }
    }

    package var beginsWith: WireBeginsWith {
        get {
            if case .beginsWith(let value)? = node { value } else { WireBeginsWith() }
        }
        set { node = .beginsWith(newValue) }
    }

    package var isIn: WireKeyValues {
        get {
            if case .isIn(let value)? = node { value } else { WireKeyValues() }
        }
        set { node = .isIn(newValue) }
    }

    package var contains: WireKeyValue {
        get {
            if case .contains(let value)? = node { value } else { WireKeyValue() }
        }
        set { node = .contains(newValue) }
    }

    package var containsAny: WireKeyValues {
        get {
            if case .containsAny(let value)? = node { value } else { WireKeyValues() }
        }
        set { node = .containsAny(newValue) }
    }

    package var isPresent: WirePresence {
        get {
            if case .isPresent(let value)? = node { value } else { WirePresence() }
        }
        set { node = .isPresent(newValue) }
    }

    package var isNear: WireNear {
        get {
            if case .isNear(let value)? = node { value } else { WireNear() }
        }
        set { node = .isNear(newValue) }
    }

    package var search: String {
        get {
            if case .search(let value)? = node { value } else { "" }
        }
        set { node = .search(newValue) }
    }

    package var and: WirePredicates {
        get {
            if case .and(let value)? = node { value } else { WirePredicates() }
        }
        set { node = .and(newValue) }
    }

    package var not: WirePredicate {
        get {
            if case .not(let value)? = node { value } else { WirePredicate() }
        }
        set { node = .not(newValue) }
    }

    @usableFromInline package init() {}
}

extension WirePredicate {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        try reader.enter(atMost: 40, inAll: 2000)
        defer { reader.leave() }
        while let tag = try reader.nextTag() {
            switch tag {
            case 8: self.node = .always(try reader.flag())
            case 18:
                var value = self.compare
                self.node = nil
                try reader.read(&value)
                self.node = .compare(value)
            case 26:
                var value = self.between
                self.node = nil
                try reader.read(&value)
                self.node = .between(value)
            case 34:
                var value = self.beginsWith
                self.node = nil
                try reader.read(&value)
                self.node = .beginsWith(value)
            case 42:
                var value = self.isIn
                self.node = nil
                try reader.read(&value)
                self.node = .isIn(value)
            case 50:
                var value = self.contains
                self.node = nil
                try reader.read(&value)
                self.node = .contains(value)
            case 58:
                var value = self.containsAny
                self.node = nil
                try reader.read(&value)
                self.node = .containsAny(value)
            case 66:
                var value = self.isPresent
                self.node = nil
                try reader.read(&value)
                self.node = .isPresent(value)
            case 74:
                var value = self.isNear
                self.node = nil
                try reader.read(&value)
                self.node = .isNear(value)
            case 82: self.node = .search(try reader.text(atMost: 131_072))
            case 90:
                var value = self.and
                self.node = nil
                try reader.read(&value)
                self.node = .and(value)
            case 98:
                var value = self.not
                self.node = nil
                try reader.read(&value)
                self.node = .not(value)
            default: try reader.skip(tag, known: 0x1FFE)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        switch node {
        case .always(let value)?:
            size += 1 + WireSize.flag(value)
        case .compare(let value)?:
            size += 1 + WireSize.message(value)
        case .between(let value)?:
            size += 1 + WireSize.message(value)
        case .beginsWith(let value)?:
            size += 1 + WireSize.message(value)
        case .isIn(let value)?:
            size += 1 + WireSize.message(value)
        case .contains(let value)?:
            size += 1 + WireSize.message(value)
        case .containsAny(let value)?:
            size += 1 + WireSize.message(value)
        case .isPresent(let value)?:
            size += 1 + WireSize.message(value)
        case .isNear(let value)?:
            size += 1 + WireSize.message(value)
        case .search(let value)?:
            size += 1 + WireSize.text(value)
        case .and(let value)?:
            size += 1 + WireSize.message(value)
        case .not(let value)?:
            size += 1 + WireSize.message(value)
        case nil: break
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        switch node {
        case .always(let value)?:
            writer.number(8)
            writer.flag(value)
        case .compare(let value)?:
            writer.number(18)
            writer.message(value)
        case .between(let value)?:
            writer.number(26)
            writer.message(value)
        case .beginsWith(let value)?:
            writer.number(34)
            writer.message(value)
        case .isIn(let value)?:
            writer.number(42)
            writer.message(value)
        case .contains(let value)?:
            writer.number(50)
            writer.message(value)
        case .containsAny(let value)?:
            writer.number(58)
            writer.message(value)
        case .isPresent(let value)?:
            writer.number(66)
            writer.message(value)
        case .isNear(let value)?:
            writer.number(74)
            writer.message(value)
        case .search(let value)?:
            writer.number(82)
            writer.text(value)
        case .and(let value)?:
            writer.number(90)
            writer.message(value)
        case .not(let value)?:
            writer.number(98)
            writer.message(value)
        case nil: break
        }
    }
}

/// Several conditions.
@usableFromInline
package struct WirePredicates: WireMessage {
    package var parts: [WirePredicate] = []

    @usableFromInline package init() {}
}

extension WirePredicates {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 10: try reader.append(to: &self.parts, atMost: 2_000)
            default: try reader.skip(tag, known: 0x2)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        for value in parts {
            size += 1 + WireSize.message(value)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        for value in parts {
            writer.number(10)
            writer.message(value)
        }
    }
}

/// A comparison of a key with a value. Here and below, a key is that of a field, or the name of a system field:
/// recordID, creationDate, modificationDate, creatorUserRecordID, lastModifiedUserRecordID, parent, share.
@usableFromInline
package struct WireComparison: WireMessage {
    package var key = ""
    package var `operator` = WireComparisonOperator()
    package var value: WireQueryValue {
        get { presentValue ?? WireQueryValue() }
        set { presentValue = newValue }
    }
    package var hasValue: Bool { presentValue != nil }
    private var presentValue: WireQueryValue?

    @usableFromInline package init() {}
}

extension WireComparison {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 10: self.key = try reader.text(atMost: 65_536)
            case 16: self.`operator` = try reader.choice()
            case 26:
                var value = self.presentValue ?? WireQueryValue()
                self.presentValue = nil
                try reader.read(&value)
                self.presentValue = value
            default: try reader.skip(tag, known: 0xE)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        if !key.isEmpty {
            size += 1 + WireSize.text(key)
        }
        if `operator` != WireComparisonOperator() {
            size += 1 + WireSize.choice(`operator`)
        }
        if let presentValue {
            size += 1 + WireSize.message(presentValue)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        if !key.isEmpty {
            writer.number(10)
            writer.text(key)
        }
        if `operator` != WireComparisonOperator() {
            writer.number(16)
            writer.choice(`operator`)
        }
        if let presentValue {
            writer.number(26)
            writer.message(presentValue)
        }
    }
}

/// The key's value is in a range.
@usableFromInline
package struct WireBetween: WireMessage {
    package var key = ""
    /// Both ends belong to the range.
    package var low: WireQueryValue {
        get { presentLow ?? WireQueryValue() }
        set { presentLow = newValue }
    }
    package var hasLow: Bool { presentLow != nil }
    private var presentLow: WireQueryValue?
    package var high: WireQueryValue {
        get { presentHigh ?? WireQueryValue() }
        set { presentHigh = newValue }
    }
    package var hasHigh: Bool { presentHigh != nil }
    private var presentHigh: WireQueryValue?

    @usableFromInline package init() {}
}

extension WireBetween {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 10: self.key = try reader.text(atMost: 65_536)
            case 18:
                var value = self.presentLow ?? WireQueryValue()
                self.presentLow = nil
                try reader.read(&value)
                self.presentLow = value
            case 26:
                var value = self.presentHigh ?? WireQueryValue()
                self.presentHigh = nil
                try reader.read(&value)
                self.presentHigh = value
            default: try reader.skip(tag, known: 0xE)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        if !key.isEmpty {
            size += 1 + WireSize.text(key)
        }
        if let presentLow {
            size += 1 + WireSize.message(presentLow)
        }
        if let presentHigh {
            size += 1 + WireSize.message(presentHigh)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        if !key.isEmpty {
            writer.number(10)
            writer.text(key)
        }
        if let presentLow {
            writer.number(18)
            writer.message(presentLow)
        }
        if let presentHigh {
            writer.number(26)
            writer.message(presentHigh)
        }
    }
}

/// The key's string begins with a string.
@usableFromInline
package struct WireBeginsWith: WireMessage {
    package var key = ""
    package var prefix = ""

    @usableFromInline package init() {}
}

extension WireBeginsWith {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 10: self.key = try reader.text(atMost: 65_536)
            case 18: self.prefix = try reader.text(atMost: 131_072)
            default: try reader.skip(tag, known: 0x6)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        if !key.isEmpty {
            size += 1 + WireSize.text(key)
        }
        if !prefix.isEmpty {
            size += 1 + WireSize.text(prefix)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        if !key.isEmpty {
            writer.number(10)
            writer.text(key)
        }
        if !prefix.isEmpty {
            writer.number(18)
            writer.text(prefix)
        }
    }
}

/// A key and a value.
@usableFromInline
package struct WireKeyValue: WireMessage {
    package var key = ""
    package var value: WireQueryValue {
        get { presentValue ?? WireQueryValue() }
        set { presentValue = newValue }
    }
    package var hasValue: Bool { presentValue != nil }
    private var presentValue: WireQueryValue?

    @usableFromInline package init() {}
}

extension WireKeyValue {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 10: self.key = try reader.text(atMost: 65_536)
            case 18:
                var value = self.presentValue ?? WireQueryValue()
                self.presentValue = nil
                try reader.read(&value)
                self.presentValue = value
            default: try reader.skip(tag, known: 0x6)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        if !key.isEmpty {
            size += 1 + WireSize.text(key)
        }
        if let presentValue {
            size += 1 + WireSize.message(presentValue)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        if !key.isEmpty {
            writer.number(10)
            writer.text(key)
        }
        if let presentValue {
            writer.number(18)
            writer.message(presentValue)
        }
    }
}

/// A key and several values.
@usableFromInline
package struct WireKeyValues: WireMessage {
    package var key = ""
    package var values: [WireQueryValue] = []

    @usableFromInline package init() {}
}

extension WireKeyValues {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 10: self.key = try reader.text(atMost: 65_536)
            case 18: try reader.append(to: &self.values, atMost: 2_000)
            default: try reader.skip(tag, known: 0x6)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        if !key.isEmpty {
            size += 1 + WireSize.text(key)
        }
        for value in values {
            size += 1 + WireSize.message(value)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        if !key.isEmpty {
            writer.number(10)
            writer.text(key)
        }
        for value in values {
            writer.number(18)
            writer.message(value)
        }
    }
}

/// The record has a key, or lacks it.
@usableFromInline
package struct WirePresence: WireMessage {
    package var key = ""
    /// False: the record lacks the key.
    package var isPresent = false

    @usableFromInline package init() {}
}

extension WirePresence {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 10: self.key = try reader.text(atMost: 65_536)
            case 16: self.isPresent = try reader.flag()
            default: try reader.skip(tag, known: 0x6)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        if !key.isEmpty {
            size += 1 + WireSize.text(key)
        }
        if isPresent {
            size += 1 + WireSize.flag(isPresent)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        if !key.isEmpty {
            writer.number(10)
            writer.text(key)
        }
        if isPresent {
            writer.number(16)
            writer.flag(isPresent)
        }
    }
}

/// The key's location is within a radius of a place.
@usableFromInline
package struct WireNear: WireMessage {
    package var key = ""
    package var location: WireQueryLocation {
        get { presentLocation ?? WireQueryLocation() }
        set { presentLocation = newValue }
    }
    package var hasLocation: Bool { presentLocation != nil }
    private var presentLocation: WireQueryLocation?
    package var metres: Double = 0
    /// A location at exactly this distance is included.
    package var isInclusive = false

    @usableFromInline package init() {}
}

extension WireNear {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 10: self.key = try reader.text(atMost: 65_536)
            case 18:
                var value = self.presentLocation ?? WireQueryLocation()
                self.presentLocation = nil
                try reader.read(&value)
                self.presentLocation = value
            case 25: self.metres = try reader.double()
            case 32: self.isInclusive = try reader.flag()
            default: try reader.skip(tag, known: 0x1E)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        if !key.isEmpty {
            size += 1 + WireSize.text(key)
        }
        if let presentLocation {
            size += 1 + WireSize.message(presentLocation)
        }
        if metres.bitPattern != 0 {
            size += 1 + WireSize.double(metres)
        }
        if isInclusive {
            size += 1 + WireSize.flag(isInclusive)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        if !key.isEmpty {
            writer.number(10)
            writer.text(key)
        }
        if let presentLocation {
            writer.number(18)
            writer.message(presentLocation)
        }
        if metres.bitPattern != 0 {
            writer.number(25)
            writer.double(metres)
        }
        if isInclusive {
            writer.number(32)
            writer.flag(isInclusive)
        }
    }
}

/// A place on earth, in degrees.
@usableFromInline
package struct WireQueryLocation: WireMessage {
    package var latitude: Double = 0
    package var longitude: Double = 0

    @usableFromInline package init() {}
}

extension WireQueryLocation {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 9: self.latitude = try reader.double()
            case 17: self.longitude = try reader.double()
            default: try reader.skip(tag, known: 0x6)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        if latitude.bitPattern != 0 {
            size += 1 + WireSize.double(latitude)
        }
        if longitude.bitPattern != 0 {
            size += 1 + WireSize.double(longitude)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        if latitude.bitPattern != 0 {
            writer.number(9)
            writer.double(latitude)
        }
        if longitude.bitPattern != 0 {
            writer.number(17)
            writer.double(longitude)
        }
    }
}

/// A value that fields are compared with.
@usableFromInline
package struct WireQueryValue: WireMessage {
    /// One of these, or none.
    package enum OneOfValue: Sendable, Equatable {
        case string(String)
        case int64(Int64)
        case double(Double)
        /// Milliseconds since 1970-01-01T00:00:00Z.
        case date(Int64)
        /// Also for record IDs, and for users by their record names.
        case reference(WireQueryReference)
    }

    package var value: OneOfValue?

    package var string: String {
        get {
            if case .string(let value)? = value { value } else { "" }
        }
        set { value = .string(newValue) }
    }

    package var int64: Int64 {
        get {
            if case .int64(let value)? = value { value } else { 0 }
        }
        set { value = .int64(newValue) }
    }

    package var double: Double {
        get {
            if case .double(let value)? = value { value } else { 0 }
        }
        set { value = .double(newValue) }
    }

    package var date: Int64 {
        get {
            if case .date(let value)? = value { value } else { 0 }
        }
        set { value = .date(newValue) }
    }

    package var reference: WireQueryReference {
        get {
            if case .reference(let value)? = value { value } else { WireQueryReference() }
        }
        set { value = .reference(newValue) }
    }

    @usableFromInline package init() {}
}

extension WireQueryValue {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 10: self.value = .string(try reader.text(atMost: 131_072))
            case 16: self.value = .int64(try reader.zigzag())
            case 25: self.value = .double(try reader.double())
            case 32: self.value = .date(try reader.zigzag())
            case 42:
                var value = self.reference
                self.value = nil
                try reader.read(&value)
                self.value = .reference(value)
            default: try reader.skip(tag, known: 0x3E)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        switch value {
        case .string(let value)?:
            size += 1 + WireSize.text(value)
        case .int64(let value)?:
            size += 1 + WireSize.zigzag(value)
        case .double(let value)?:
            size += 1 + WireSize.double(value)
        case .date(let value)?:
            size += 1 + WireSize.zigzag(value)
        case .reference(let value)?:
            size += 1 + WireSize.message(value)
        case nil: break
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        switch value {
        case .string(let value)?:
            writer.number(10)
            writer.text(value)
        case .int64(let value)?:
            writer.number(16)
            writer.zigzag(value)
        case .double(let value)?:
            writer.number(25)
            writer.double(value)
        case .date(let value)?:
            writer.number(32)
            writer.zigzag(value)
        case .reference(let value)?:
            writer.number(42)
            writer.message(value)
        case nil: break
        }
    }
}

/// The record that a reference points to.
@usableFromInline
package struct WireQueryReference: WireMessage {
    package var recordName = ""
    /// Absent: the zone of the record that is compared.
    package var zone: WireZoneID {
        get { presentZone ?? WireZoneID() }
        set { presentZone = newValue }
    }
    package var hasZone: Bool { presentZone != nil }
    private var presentZone: WireZoneID?

    @usableFromInline package init() {}
}

extension WireQueryReference {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 10: self.recordName = try reader.text(atMost: 65_536)
            case 18:
                var value = self.presentZone ?? WireZoneID()
                self.presentZone = nil
                try reader.read(&value)
                self.presentZone = value
            default: try reader.skip(tag, known: 0x6)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        if !recordName.isEmpty {
            size += 1 + WireSize.text(recordName)
        }
        if let presentZone {
            size += 1 + WireSize.message(presentZone)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        if !recordName.isEmpty {
            writer.number(10)
            writer.text(recordName)
        }
        if let presentZone {
            writer.number(18)
            writer.message(presentZone)
        }
    }
}

/// A key by which records are put in order.
@usableFromInline
package struct WireSort: WireMessage {
    package var key = ""
    package var isDescending = false
    /// If present: sort by the distance of the key's location from this place.
    package var origin: WireQueryLocation {
        get { presentOrigin ?? WireQueryLocation() }
        set { presentOrigin = newValue }
    }
    package var hasOrigin: Bool { presentOrigin != nil }
    private var presentOrigin: WireQueryLocation?

    @usableFromInline package init() {}
}

extension WireSort {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 10: self.key = try reader.text(atMost: 65_536)
            case 16: self.isDescending = try reader.flag()
            case 26:
                var value = self.presentOrigin ?? WireQueryLocation()
                self.presentOrigin = nil
                try reader.read(&value)
                self.presentOrigin = value
            default: try reader.skip(tag, known: 0xE)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        if !key.isEmpty {
            size += 1 + WireSize.text(key)
        }
        if isDescending {
            size += 1 + WireSize.flag(isDescending)
        }
        if let presentOrigin {
            size += 1 + WireSize.message(presentOrigin)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        if !key.isEmpty {
            writer.number(10)
            writer.text(key)
        }
        if isDescending {
            writer.number(16)
            writer.flag(isDescending)
        }
        if let presentOrigin {
            writer.number(26)
            writer.message(presentOrigin)
        }
    }
}

/// Asks for one page of a query's results.
@usableFromInline
package struct WireQueryRecords: WireMessage {
    package var database = WireDatabaseScope()
    package var query: WireQuery {
        get { presentQuery ?? WireQuery() }
        set { presentQuery = newValue }
    }
    package var hasQuery: Bool { presentQuery != nil }
    private var presentQuery: WireQuery?
    /// From the previous answer to the same query. Empty: from the first record.
    package var cursor: [UInt8] = []
    package var desiredKeys: WireDesiredKeys {
        get { presentDesiredKeys ?? WireDesiredKeys() }
        set { presentDesiredKeys = newValue }
    }
    package var hasDesiredKeys: Bool { presentDesiredKeys != nil }
    private var presentDesiredKeys: WireDesiredKeys?
    /// The most records in the answer. 0: the server decides.
    package var limit: UInt32 = 0

    @usableFromInline package init() {}
}

extension WireQueryRecords {
    @usableFromInline package static var elementsInAllMax: Int { 9000 }

    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 8: self.database = try reader.choice()
            case 18:
                var value = self.presentQuery ?? WireQuery()
                self.presentQuery = nil
                try reader.read(&value)
                self.presentQuery = value
            case 26: self.cursor = try reader.content(atMost: 2_097_152)
            case 34:
                var value = self.presentDesiredKeys ?? WireDesiredKeys()
                self.presentDesiredKeys = nil
                try reader.read(&value)
                self.presentDesiredKeys = value
            case 40: self.limit = try reader.uint32()
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
        if let presentQuery {
            size += 1 + WireSize.message(presentQuery)
        }
        if !cursor.isEmpty {
            size += 1 + WireSize.content(cursor)
        }
        if let presentDesiredKeys {
            size += 1 + WireSize.message(presentDesiredKeys)
        }
        if limit != 0 {
            size += 1 + WireSize.uint32(limit)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        if database != WireDatabaseScope() {
            writer.number(8)
            writer.choice(database)
        }
        if let presentQuery {
            writer.number(18)
            writer.message(presentQuery)
        }
        if !cursor.isEmpty {
            writer.number(26)
            writer.content(cursor)
        }
        if let presentDesiredKeys {
            writer.number(34)
            writer.message(presentDesiredKeys)
        }
        if limit != 0 {
            writer.number(40)
            writer.uint32(limit)
        }
    }
}

/// One page of a query's results.
@usableFromInline
package struct WireQueryRecordsAnswer: WireMessage {
    /// In the query's order.
    package var matches: [WireQueryMatch] = []
    /// Where to go on. Empty: there is no more. It is opaque, and belongs to this query alone.
    package var cursor: [UInt8] = []

    @usableFromInline package init() {}
}

extension WireQueryRecordsAnswer {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 10: try reader.append(to: &self.matches, atMost: 65_536)
            case 18: self.cursor = try reader.content()
            default: try reader.skip(tag, known: 0x6)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        for value in matches {
            size += 1 + WireSize.message(value)
        }
        if !cursor.isEmpty {
            size += 1 + WireSize.content(cursor)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        for value in matches {
            writer.number(10)
            writer.message(value)
        }
        if !cursor.isEmpty {
            writer.number(18)
            writer.content(cursor)
        }
    }
}

// Field by field, for hot loops that make no message objects.
extension WireQueryRecordsAnswer {
    /// The fields' tags, as `WireReader.nextTag()` returns them.
    @usableFromInline
    package enum Tag {
        @inlinable package static var matches: UInt32 { 10 }
        @inlinable package static var cursor: UInt32 { 18 }
    }

    /// Writes these fields, or counts their bytes. Omitted ones have their defaults.
    @inlinable
    package static func write<Cursor: WireContent>(cursor: Cursor = [UInt8](), to writer: inout WireWriter) {
        guard !writer.isMeasuring else {
            var size = 0
            if cursor.byteCount > 0 { size += 1 + WireSize.content(cursor) }
            return writer.count(size)
        }
        if cursor.byteCount > 0 {
            writer.number(18)
            writer.content(cursor)
        }
    }

    /// The size of the field `matches`, if its message has `byteCount` bytes.
    @inlinable
    package static func size(matches byteCount: Int) -> Int { 1 + WireSize.content(byteCount) }

    /// Writes tag and length of the field `matches`. The bytes of its message must follow.
    @inlinable
    package static func begin(matches byteCount: Int, to writer: inout WireWriter) {
        writer.number(10)
        writer.number(UInt64(byteCount))
    }
}

/// A record that a query found.
@usableFromInline
package struct WireQueryMatch: WireMessage {
    package var record: WireRecord {
        get { presentRecord ?? WireRecord() }
        set { presentRecord = newValue }
    }
    package var hasRecord: Bool { presentRecord != nil }
    private var presentRecord: WireRecord?
    /// Absent: the zone that the query names.
    package var zone: WireZoneID {
        get { presentZone ?? WireZoneID() }
        set { presentZone = newValue }
    }
    package var hasZone: Bool { presentZone != nil }
    private var presentZone: WireZoneID?

    @usableFromInline package init() {}
}

extension WireQueryMatch {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 10:
                var value = self.presentRecord ?? WireRecord()
                self.presentRecord = nil
                try reader.read(&value)
                self.presentRecord = value
            case 18:
                var value = self.presentZone ?? WireZoneID()
                self.presentZone = nil
                try reader.read(&value)
                self.presentZone = value
            default: try reader.skip(tag, known: 0x6)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        if let presentRecord {
            size += 1 + WireSize.message(presentRecord)
        }
        if let presentZone {
            size += 1 + WireSize.message(presentZone)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        if let presentRecord {
            writer.number(10)
            writer.message(presentRecord)
        }
        if let presentZone {
            writer.number(18)
            writer.message(presentZone)
        }
    }
}

// Field by field, for hot loops that make no message objects.
extension WireQueryMatch {
    /// The fields' tags, as `WireReader.nextTag()` returns them.
    @usableFromInline
    package enum Tag {
        @inlinable package static var record: UInt32 { 10 }
        @inlinable package static var zone: UInt32 { 18 }
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

    /// The size of the field `zone`, if its message has `byteCount` bytes.
    @inlinable
    package static func size(zone byteCount: Int) -> Int { 1 + WireSize.content(byteCount) }

    /// Writes tag and length of the field `zone`. The bytes of its message must follow.
    @inlinable
    package static func begin(zone byteCount: Int, to writer: inout WireWriter) {
        writer.number(18)
        writer.number(UInt64(byteCount))
    }
}

/// How two values are compared. Equality of strings ignores case. Strings are ordered by their code points.
@usableFromInline
package enum WireComparisonOperator: WireChoice {
    case unspecified
    case equal
    case notEqual
    case less
    case lessOrEqual
    case greater
    case greaterOrEqual
    /// A value that this version does not know.
    case unrecognized(Int32)

    @usableFromInline package init() { self = .unspecified }

    @usableFromInline
    package init(rawValue: Int32) {
        switch rawValue {
        case 0: self = .unspecified
        case 1: self = .equal
        case 2: self = .notEqual
        case 3: self = .less
        case 4: self = .lessOrEqual
        case 5: self = .greater
        case 6: self = .greaterOrEqual
        default: self = .unrecognized(rawValue)
        }
    }

    @usableFromInline
    package var rawValue: Int32 {
        switch self {
        case .unspecified: 0
        case .equal: 1
        case .notEqual: 2
        case .less: 3
        case .lessOrEqual: 4
        case .greater: 5
        case .greaterOrEqual: 6
        case .unrecognized(let number): number
        }
    }
}
