// SPDX-License-Identifier: Apache-2.0

extension SubscriptionQuery {
    private static let version: UInt64 = 1

    /// As it is stored, with the zone's name. The database is stored beside it.
    package func encoded(zoneName: String?) -> [UInt8] {
        var writer = CompactWriter(capacity: predicateBytes.count * 2 + 32)
        writer.write(Self.version)
        writer.write(UInt64(options.rawValue))
        writer.write(UInt64(zoneName == nil ? 0 : 1))
        writer.write(text: zoneName ?? "")
        writer.write(predicateBytes)
        predicate.write(to: &writer)
        return writer.bytes
    }

    /// Nil if the bytes are not of any version that this server knows.
    package static func decoded(
        _ bytes: [UInt8], of database: DatabaseID
    ) -> (query: SubscriptionQuery, zoneName: String?)? {
        var reader = CompactReader(bytes)
        guard reader.readNumber() == version, let options = reader.readNumber().flatMap(UInt32.init(exactly:)),
            let hasZone = reader.readFlag(), let zoneName = reader.readText(),
            let predicateBytes = reader.readContent(),
            let predicate = QueryPredicate(reading: &reader, depth: depthMax), reader.isAtEnd
        else { return nil }
        let query = SubscriptionQuery(
            database: database, predicate: predicate, options: Options(rawValue: options),
            predicateBytes: predicateBytes)
        return (query, hasZone ? zoneName : nil)
    }

    /// No deeper predicate is read, so that none exhausts the stack. `Limits.predicateDepthMax` is less.
    private static let depthMax = 64
}

extension QueryPredicate {
    /// Reads what ``write(to:)`` wrote.
    fileprivate init?(reading reader: inout CompactReader, depth: Int) {
        guard depth > 0, let code = reader.readNumber() else { return nil }
        switch code {
        case 1: self = .always(true)
        case 2: self = .always(false)
        case 3:
            guard let key = QueryKey(reading: &reader),
                let comparison = reader.readNumber().flatMap(UInt8.init(exactly:)).flatMap(QueryComparison.init),
                let value = QueryValue(reading: &reader)
            else { return nil }
            self = .compare(key, comparison, value)
        case 13:
            guard let text = reader.readText() else { return nil }
            self = .search(text)
        case 14:
            guard let count = reader.readCount() else { return nil }
            var parts: [QueryPredicate] = []
            for _ in 0..<count {
                guard let part = QueryPredicate(reading: &reader, depth: depth - 1) else { return nil }
                parts.append(part)
            }
            self = .and(parts)
        case 15:
            guard let part = QueryPredicate(reading: &reader, depth: depth - 1) else { return nil }
            self = .not(part)
        default:
            guard let key = QueryKey(reading: &reader), let values = reader.readValues(),
                let predicate = Self.predicate(code, key, values, &reader)
            else { return nil }
            self = predicate
        }
    }

    /// The predicates that are written as a key and a list of values.
    private static func predicate(
        _ code: UInt64, _ key: QueryKey, _ values: [QueryValue], _ reader: inout CompactReader
    ) -> QueryPredicate? {
        switch (code, values.count) {
        case (4, 2): return .between(key, values[0], values[1])
        case (5, 1):
            guard case .string(let prefix) = values[0] else { return nil }
            return .beginsWith(key, prefix)
        case (6, _): return .isIn(key, values)
        case (7, 1): return .contains(key, values[0])
        case (8, _): return .containsAny(key, values)
        case (9, 0): return .isPresent(key, true)
        case (10, 0): return .isPresent(key, false)
        case (11, 1), (12, 1):
            guard case .double(let metres) = values[0], let latitude = reader.readDouble(),
                let longitude = reader.readDouble()
            else { return nil }
            return .isNear(
                key, QueryLocation(latitude: latitude, longitude: longitude), metres: metres, isInclusive: code == 11)
        default: return nil
        }
    }
}

extension QueryKey {
    fileprivate init?(reading reader: inout CompactReader) {
        guard let isSystem = reader.readFlag(), let name = reader.readText() else { return nil }
        if isSystem {
            guard let field = QuerySystemKey(rawValue: name) else { return nil }
            self = .system(field)
        } else {
            self = .field(name)
        }
    }
}

extension QueryValue {
    fileprivate init?(reading reader: inout CompactReader) {
        switch reader.readNumber() {
        case 1:
            guard let text = reader.readText() else { return nil }
            self = .string(text)
        case 2:
            guard let number = reader.readSigned() else { return nil }
            self = .int64(number)
        case 3:
            guard let number = reader.readDouble() else { return nil }
            self = .double(number)
        case 4:
            guard let milliseconds = reader.readSigned() else { return nil }
            self = .date(milliseconds: milliseconds)
        case 5:
            guard let name = reader.readText(), let zone = QueryReference.Zone(reading: &reader) else { return nil }
            self = .reference(QueryReference(recordName: name, zone: zone))
        case 6:
            guard let isKnown = reader.readFlag(), let user = reader.readSigned() else { return nil }
            self = .user(isKnown ? UserID(user) : nil)
        default: return nil
        }
    }
}

extension QueryReference.Zone {
    fileprivate init?(reading reader: inout CompactReader) {
        switch reader.readNumber() {
        case 0: self = .holder
        case 1: self = .elsewhere
        case 2:
            guard let name = reader.readText() else { return nil }
            self = .named(name)
        default: return nil
        }
    }
}

extension CompactReader {
    fileprivate mutating func readFlag() -> Bool? {
        switch readNumber() {
        case 0: false
        case 1: true
        default: nil
        }
    }

    fileprivate mutating func readText() -> String? { readContent().map { String(decoding: $0, as: UTF8.self) } }

    fileprivate mutating func readDouble() -> Double? { readNumber().map(Double.init(bitPattern:)) }

    fileprivate mutating func readValues() -> [QueryValue]? {
        guard let count = readCount() else { return nil }
        var values: [QueryValue] = []
        for _ in 0..<count {
            guard let value = QueryValue(reading: &self) else { return nil }
            values.append(value)
        }
        return values
    }
}
