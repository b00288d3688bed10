// SPDX-License-Identifier: Apache-2.0

extension Query {
    /// A hash that stands for the query in cursors. It is the same for equal queries, on every machine and in every
    /// version of the server.
    package var digest: UInt64 {
        var writer = CompactWriter()
        writer.write(text: recordType)
        writer.write(flag: zoneName != nil)
        writer.write(text: zoneName ?? "")
        predicate.write(to: &writer)
        writer.write(sorts.count)
        for sort in sorts {
            sort.key.write(to: &writer)
            writer.write(flag: sort.isAscending)
            writer.write(flag: sort.origin != nil)
            sort.origin?.write(to: &writer)
        }
        // FNV-1a, 64 bits.
        return writer.bytes.reduce(14_695_981_039_346_656_037) { ($0 ^ UInt64($1)) &* 1_099_511_628_211 }
    }
}

extension QueryPredicate {
    /// Also as query subscriptions store it: numbers never get another meaning.
    func write(to writer: inout CompactWriter) {
        switch self {
        case .always(let result):
            writer.write(UInt64(result ? 1 : 2))
        case .compare(let key, let comparison, let value):
            writer.write(UInt64(3))
            key.write(to: &writer)
            writer.write(UInt64(comparison.rawValue))
            value.write(to: &writer)
        case .between(let key, let low, let high):
            writer.write(UInt64(4), key, [low, high])
        case .beginsWith(let key, let prefix):
            writer.write(UInt64(5), key, [.string(prefix)])
        case .isIn(let key, let values):
            writer.write(UInt64(6), key, values)
        case .contains(let key, let value):
            writer.write(UInt64(7), key, [value])
        case .containsAny(let key, let values):
            writer.write(UInt64(8), key, values)
        case .isPresent(let key, let isPresent):
            writer.write(UInt64(isPresent ? 9 : 10), key, [])
        case .isNear(let key, let place, let metres, let isInclusive):
            writer.write(UInt64(isInclusive ? 11 : 12), key, [.double(metres)])
            place.write(to: &writer)
        case .search(let text):
            writer.write(UInt64(13))
            writer.write(text: text)
        case .and(let parts):
            writer.write(UInt64(14))
            writer.write(parts.count)
            for part in parts { part.write(to: &writer) }
        case .not(let part):
            writer.write(UInt64(15))
            part.write(to: &writer)
        }
    }
}

extension QueryKey {
    fileprivate func write(to writer: inout CompactWriter) {
        switch self {
        case .field(let name):
            writer.write(flag: false)
            writer.write(text: name)
        case .system(let field):
            writer.write(flag: true)
            writer.write(text: field.rawValue)
        }
    }
}

extension QueryValue {
    fileprivate func write(to writer: inout CompactWriter) {
        switch self {
        case .string(let string):
            writer.write(UInt64(1))
            writer.write(text: string)
        case .int64(let number):
            writer.write(UInt64(2))
            writer.write(signed: number)
        case .double(let number):
            writer.write(UInt64(3))
            writer.write(number.bitPattern)
        case .date(let milliseconds):
            writer.write(UInt64(4))
            writer.write(signed: milliseconds)
        case .reference(let reference):
            writer.write(UInt64(5))
            writer.write(text: reference.recordName)
            switch reference.zone {
            case .holder: writer.write(UInt64(0))
            case .elsewhere: writer.write(UInt64(1))
            case .named(let name):
                writer.write(UInt64(2))
                writer.write(text: name)
            }
        case .user(let user):
            writer.write(UInt64(6))
            writer.write(flag: user != nil)
            writer.write(signed: user?.rawValue ?? 0)
        }
    }
}

extension QueryLocation {
    fileprivate func write(to writer: inout CompactWriter) {
        writer.write(latitude.bitPattern)
        writer.write(longitude.bitPattern)
    }
}

extension CompactWriter {
    fileprivate mutating func write(flag: Bool) { write(UInt64(flag ? 1 : 0)) }

    fileprivate mutating func write(_ code: UInt64, _ key: QueryKey, _ values: [QueryValue]) {
        write(code)
        key.write(to: &self)
        write(values.count)
        for value in values { value.write(to: &self) }
    }
}
