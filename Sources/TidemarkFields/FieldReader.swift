// SPDX-License-Identifier: Apache-2.0

/// Decodes the values of a ``FieldMap``'s entries.
enum FieldReader {
    static func value(_ bytes: [UInt8], _ layout: FieldLayout) throws(FieldError) -> FieldValue {
        var offset = layout.valueStart
        let value = try value(bytes, layout, &offset)
        guard offset == layout.end else { throw FieldError(.malformed, at: offset) }
        return value
    }

    static func text(_ bytes: [UInt8], _ layout: FieldLayout, bytesMax: Int) throws(FieldError) -> String? {
        guard layout.typeCode == FieldType.string.rawValue else { return nil }
        var offset = layout.valueStart
        try FieldWire.expect(FieldTag.Field.string, bytes.span, &offset, layout.end)
        var end = try FieldWire.readLength(bytes.span, &offset, layout.end)
        if end - offset > bytesMax {
            end = offset + bytesMax
            while end > offset, bytes[end] & 0xC0 == 0x80 { end -= 1 }
        }
        return String(decoding: bytes[offset..<end], as: UTF8.self)
    }

    private static func value(
        _ bytes: [UInt8], _ layout: FieldLayout, _ offset: inout Int
    ) throws(FieldError) -> FieldValue {
        let end = layout.end
        guard let type = FieldType(rawValue: layout.typeCode) else { throw FieldError(.unknownType, at: offset) }
        switch type {
        case .removed: return .removed
        case .emptyList: return .emptyList
        case .string:
            try FieldWire.expect(FieldTag.Field.string, bytes.span, &offset, end)
            return .string(try string(bytes, &offset, end))
        case .int64:
            try FieldWire.expect(FieldTag.Field.int64, bytes.span, &offset, end)
            return .int64(try FieldWire.readZigzag(bytes.span, &offset, end))
        case .double:
            try FieldWire.expect(FieldTag.Field.double, bytes.span, &offset, end)
            return .double(try FieldWire.readDouble(bytes.span, &offset, end))
        case .date:
            return .date(
                try FieldWire.readDate(
                    FieldTag.Field.date, orExact: FieldTag.Field.exactDate, bytes.span, &offset, end))
        case .bytes:
            try FieldWire.expect(FieldTag.Field.bytes, bytes.span, &offset, end)
            return .bytes(try data(bytes, &offset, end))
        case .reference:
            try FieldWire.expect(FieldTag.Field.reference, bytes.span, &offset, end)
            return .reference(try reference(bytes, &offset, end))
        case .asset:
            try FieldWire.expect(FieldTag.Field.asset, bytes.span, &offset, end)
            return .asset(try describedAsset(bytes, &offset, end))
        case .location:
            try FieldWire.expect(FieldTag.Field.location, bytes.span, &offset, end)
            return .location(try measuredLocation(bytes, &offset, end))
        case .stringList, .int64List, .doubleList, .dateList, .bytesList, .referenceList, .assetList,
            .locationList:
            try FieldWire.expect(FieldTag.Field.list, bytes.span, &offset, end)
            let listEnd = try FieldWire.readLength(bytes.span, &offset, end)
            return try list(type, bytes, &offset, listEnd)
        }
    }

    private static func list(
        _ type: FieldType, _ bytes: [UInt8], _ offset: inout Int, _ end: Int
    ) throws(FieldError) -> FieldValue {
        switch type {
        case .stringList: return .strings(try repeated(.string, bytes, &offset, end, string))
        case .bytesList: return .bytesList(try repeated(.bytes, bytes, &offset, end, data))
        case .referenceList: return .references(try repeated(.reference, bytes, &offset, end, reference))
        case .assetList: return .assets(try repeated(.asset, bytes, &offset, end, describedAsset))
        case .locationList: return .locations(try repeated(.location, bytes, &offset, end, measuredLocation))
        case .int64List: return .int64s(try packed(.int64, bytes, &offset, end, integer))
        case .dateList: return .dates(try dates(bytes, &offset, end))
        default: return .doubles(try packed(.double, bytes, &offset, end, double))
        }
    }

    private static func dates(_ bytes: [UInt8], _ offset: inout Int, _ end: Int) throws(FieldError) -> [FieldDate] {
        guard offset < end, bytes[offset] == FieldTag.List.exactDates else {
            return try packed(.date, bytes, &offset, end, integer).map(FieldDate.init(milliseconds:))
        }
        return try exactDates(bytes.span, &offset, end)
    }

    /// Reads a list of exact dates. At least one has no form in milliseconds, or the list would not be canonical.
    static func exactDates(
        _ bytes: Span<UInt8>, _ offset: inout Int, _ end: Int
    ) throws(FieldError) -> [FieldDate] {
        try FieldWire.expect(FieldTag.List.exactDates, bytes, &offset, end)
        let packedEnd = try FieldWire.readLength(bytes, &offset, end)
        guard packedEnd == end, offset < end, (end - offset) % 8 == 0 else {
            throw FieldError(.malformed, at: offset)
        }
        var dates: [FieldDate] = []
        var isExact = false
        while offset < end {
            let start = offset
            let seconds = try FieldWire.readDouble(bytes, &offset, end)
            guard let date = FieldDate(secondsSince2001: seconds),
                date.secondsSince2001.bitPattern == seconds.bitPattern
            else { throw FieldError(.badValue, at: start) }
            if case .seconds = date.form { isExact = true }
            dates.append(date)
        }
        guard isExact else { throw FieldError(.malformed, at: offset) }
        return dates
    }

    // MARK: Lists

    private static func repeated<Element>(
        _ element: FieldType, _ bytes: [UInt8], _ offset: inout Int, _ end: Int,
        _ read: ([UInt8], inout Int, Int) throws(FieldError) -> Element
    ) throws(FieldError) -> [Element] {
        var elements: [Element] = []
        while offset < end {
            try FieldWire.expect(FieldWire.elementTag(element), bytes.span, &offset, end)
            elements.append(try read(bytes, &offset, end))
        }
        return elements
    }

    private static func packed<Element>(
        _ element: FieldType, _ bytes: [UInt8], _ offset: inout Int, _ end: Int,
        _ read: ([UInt8], inout Int, Int) throws(FieldError) -> Element
    ) throws(FieldError) -> [Element] {
        var elements: [Element] = []
        try FieldWire.expect(FieldWire.elementTag(element), bytes.span, &offset, end)
        let packedEnd = try FieldWire.readLength(bytes.span, &offset, end)
        while offset < packedEnd { elements.append(try read(bytes, &offset, packedEnd)) }
        guard packedEnd == end else { throw FieldError(.malformed, at: offset) }
        return elements
    }

    // MARK: Scalars

    private static func integer(_ bytes: [UInt8], _ offset: inout Int, _ end: Int) throws(FieldError) -> Int64 {
        try FieldWire.readZigzag(bytes.span, &offset, end)
    }

    private static func double(_ bytes: [UInt8], _ offset: inout Int, _ end: Int) throws(FieldError) -> Double {
        try FieldWire.readDouble(bytes.span, &offset, end)
    }

    private static func data(_ bytes: [UInt8], _ offset: inout Int, _ end: Int) throws(FieldError) -> [UInt8] {
        let valueEnd = try FieldWire.readLength(bytes.span, &offset, end)
        defer { offset = valueEnd }
        return Array(bytes[offset..<valueEnd])
    }

    private static func string(_ bytes: [UInt8], _ offset: inout Int, _ end: Int) throws(FieldError) -> String {
        let valueEnd = try FieldWire.readLength(bytes.span, &offset, end)
        guard UTF8Check.isValid(bytes.span, offset, valueEnd) else { throw FieldError(.badValue, at: offset) }
        defer { offset = valueEnd }
        return String(decoding: bytes[offset..<valueEnd], as: UTF8.self)
    }

    // MARK: Reference

    /// Where the names of a reference are.
    struct ReferenceLayout {
        var recordName = 0..<0
        var zoneName: Range<Int>?
        var ownerName: Range<Int>?
        var action = FieldReference.Action.none
    }

    /// Reads a reference that fills the bytes from `offset` to `end`.
    static func referenceLayout(
        _ bytes: Span<UInt8>, _ offset: inout Int, _ end: Int
    ) throws(FieldError) -> ReferenceLayout {
        var layout = ReferenceLayout()
        layout.recordName = try name(FieldTag.Reference.recordName, bytes, &offset, end)
        if offset < end, bytes[offset] == FieldTag.Reference.zoneName {
            layout.zoneName = try name(FieldTag.Reference.zoneName, bytes, &offset, end)
            layout.ownerName = try name(FieldTag.Reference.ownerName, bytes, &offset, end)
        }
        if offset < end {
            // An action of 0 is not written.
            try FieldWire.expect(FieldTag.Reference.action, bytes, &offset, end)
            let code = try FieldWire.readVarint(bytes, &offset, end)
            guard code == UInt64(FieldReference.Action.deleteSelf.rawValue) else {
                throw FieldError(code == 0 ? .malformed : .badValue, at: offset)
            }
            layout.action = .deleteSelf
        }
        guard offset == end else { throw FieldError(.malformed, at: offset) }
        return layout
    }

    /// Names are printable ASCII.
    private static func name(
        _ tag: UInt8, _ bytes: Span<UInt8>, _ offset: inout Int, _ end: Int
    ) throws(FieldError) -> Range<Int> {
        try FieldWire.expect(tag, bytes, &offset, end)
        let start: Int
        let nameEnd = try FieldWire.readLength(bytes, &offset, end)
        start = offset
        guard (1...FieldLimits.nameBytesMax).contains(nameEnd - start) else { throw FieldError(.badValue, at: start) }
        for index in start..<nameEnd where bytes[index] < 0x20 || bytes[index] > 0x7E {
            throw FieldError(.badValue, at: index)
        }
        offset = nameEnd
        return start..<nameEnd
    }

    private static func reference(
        _ bytes: [UInt8], _ offset: inout Int, _ end: Int
    ) throws(FieldError) -> FieldReference {
        let valueEnd = try FieldWire.readLength(bytes.span, &offset, end)
        let layout = try referenceLayout(bytes.span, &offset, valueEnd)
        func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }
        var reference = FieldReference(recordName: text(layout.recordName), action: layout.action)
        if let zone = layout.zoneName, let owner = layout.ownerName {
            reference.zone = FieldReference.Zone(name: text(zone), ownerName: text(owner))
        }
        return reference
    }

    // MARK: Asset

    private static func describedAsset(
        _ bytes: [UInt8], _ offset: inout Int, _ end: Int
    ) throws(FieldError) -> FieldAsset {
        let valueEnd = try FieldWire.readLength(bytes.span, &offset, end)
        let layout = try assetLayout(bytes.span, &offset, valueEnd)
        return FieldAsset(sha256: Array(bytes[layout.sha256]), byteCount: layout.byteCount)
    }

    /// Reads an asset's hash and size, which fill the bytes from `offset` to `end`.
    static func assetLayout(
        _ bytes: Span<UInt8>, _ offset: inout Int, _ end: Int
    ) throws(FieldError) -> (sha256: Range<Int>, byteCount: Int64) {
        try FieldWire.expect(FieldTag.Asset.sha256, bytes, &offset, end)
        let hashEnd = try FieldWire.readLength(bytes, &offset, end)
        guard hashEnd - offset == FieldAsset.sha256ByteCount else { throw FieldError(.badValue, at: offset) }
        let sha256 = offset..<hashEnd
        offset = hashEnd
        // A byte count of 0 is not written.
        guard offset < end else { return (sha256, 0) }
        try FieldWire.expect(FieldTag.Asset.byteCount, bytes, &offset, end)
        let count = try FieldWire.readVarint(bytes, &offset, end)
        guard count != 0 else { throw FieldError(.malformed, at: offset) }
        guard let byteCount = Int64(exactly: count) else { throw FieldError(.badValue, at: offset) }
        guard offset == end else { throw FieldError(.malformed, at: offset) }
        return (sha256, byteCount)
    }

    // MARK: Location

    private static func measuredLocation(
        _ bytes: [UInt8], _ offset: inout Int, _ end: Int
    ) throws(FieldError) -> FieldLocation {
        let valueEnd = try FieldWire.readLength(bytes.span, &offset, end)
        return try location(bytes.span, &offset, valueEnd)
    }

    /// Checks a location that fills the bytes from `offset` to `end`. It makes none, because a request has room for tens of
    /// thousands of them.
    static func checkLocation(_ bytes: Span<UInt8>, _ offset: inout Int, _ end: Int) throws(FieldError) {
        for tag in FieldWire.locationTags {
            try FieldWire.expect(tag, bytes, &offset, end)
            guard end - offset >= 8 else { throw FieldError(.truncated, at: offset) }
            offset += 8
        }
        _ = try FieldWire.readDate(
            FieldTag.Location.timestamp, orExact: FieldTag.Location.exactTimestamp, bytes, &offset, end)
        guard offset == end else { throw FieldError(.malformed, at: offset) }
    }

    /// Reads a location that fills the bytes from `offset` to `end`, with the checks of ``checkLocation(_:_:_:)``.
    static func location(
        _ bytes: Span<UInt8>, _ offset: inout Int, _ end: Int
    ) throws(FieldError) -> FieldLocation {
        var location = FieldLocation(
            latitude: 0, longitude: 0, altitude: 0, horizontalAccuracy: 0, verticalAccuracy: 0, course: 0, speed: 0,
            timestamp: FieldDate(milliseconds: 0))
        for (tag, part) in zip(FieldWire.locationTags, FieldLocation.doubles) {
            try FieldWire.expect(tag, bytes, &offset, end)
            location[keyPath: part] = try FieldWire.readDouble(bytes, &offset, end)
        }
        location.timestamp = try FieldWire.readDate(
            FieldTag.Location.timestamp, orExact: FieldTag.Location.exactTimestamp, bytes, &offset, end)
        guard offset == end else { throw FieldError(.malformed, at: offset) }
        return location
    }
}

extension FieldLocation {
    /// The parts that are doubles, in the order of their numbers in `Fields.proto`.
    static var doubles: [WritableKeyPath<FieldLocation, Double>] {
        [\.latitude, \.longitude, \.altitude, \.horizontalAccuracy, \.verticalAccuracy, \.course, \.speed]
    }
}
