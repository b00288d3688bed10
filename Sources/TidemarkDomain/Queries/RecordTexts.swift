// SPDX-License-Identifier: Apache-2.0

/// What predicates compare of one version of a record, in the form in which it is compared. Each part is made once, however many
/// predicates compare it. A pure value.
///
/// To fold a text, or to split it into words, takes a tenth of a microsecond for each byte. With the parts made, what a predicate
/// costs does not depend on the record's size.
package struct RecordTexts: Sendable {
    /// A part of a record that is made comparable.
    package enum Part: Hashable, Sendable {
        case value(QueryKey, IndexValue.Use)
        /// The elements of a list.
        case elements(String)
        /// The words of all fields that these allow to search.
        case words(QueryFields)
    }

    private struct ValueKey: Hashable {
        let key: QueryKey
        let use: IndexValue.Use
    }

    private var values: [ValueKey: IndexValue?] = [:]
    private var elements: [String: Set<IndexValue>] = [:]
    private var words: (keys: [String], found: Set<IndexText>)?
    /// How many bytes of fields were made comparable.
    package private(set) var madeByteCount = 0

    package init() {}

    /// The form in which a key's value is compared; see ``RecordState/indexValue(of:for:)``.
    mutating func value(of key: QueryKey, for use: IndexValue.Use, of record: RecordState) -> IndexValue? {
        let place = ValueKey(key: key, use: use)
        if let known = values[place] { return known }
        let value = record.indexValue(of: key, for: use)
        values[place] = .some(value)
        madeByteCount += record.byteCount(of: key)
        return value
    }

    /// The elements of a list; empty if there is none.
    mutating func elements(of name: String, of record: RecordState) -> Set<IndexValue> {
        if let known = elements[name] { return known }
        let found = Set(record.indexElements(of: name, for: .equality))
        elements[name] = found
        madeByteCount += record.byteCount(of: .field(name))
        return found
    }

    /// The words of all searchable strings and lists of strings.
    mutating func words(of record: RecordState, _ fields: QueryFields) -> Set<IndexText> {
        let (keys, byteCount) = record.searched(fields)
        if let words, words.keys == keys { return words.found }
        let found = Set(record.indexWords(fields))
        words = (keys, found)
        madeByteCount += byteCount
        return found
    }

    /// How many bytes of fields would be made comparable for these parts.
    func bytesToMake(_ parts: some Sequence<Part>, of record: RecordState) -> Int {
        parts.reduce(0) { $0 + bytesToMake($1, of: record) }
    }

    private func bytesToMake(_ part: Part, of record: RecordState) -> Int {
        switch part {
        case .value(let key, let use):
            return values[ValueKey(key: key, use: use)] == nil ? record.byteCount(of: key) : 0
        case .elements(let name): return elements[name] == nil ? record.byteCount(of: .field(name)) : 0
        case .words(let fields):
            let (keys, byteCount) = record.searched(fields)
            return words?.keys == keys ? 0 : byteCount
        }
    }

    mutating func make(_ parts: some Sequence<Part>, of record: RecordState) {
        for part in parts {
            switch part {
            case .value(let key, let use): _ = value(of: key, for: use, of: record)
            case .elements(let name): _ = elements(of: name, of: record)
            case .words(let fields): _ = words(of: record, fields)
            }
        }
    }
}

/// The texts of a record before and after a change.
package struct VersionTexts: Sendable {
    package var old = RecordTexts()
    package var new = RecordTexts()

    package init() {}

    /// How many bytes of fields would be made comparable for these parts, of both versions.
    package func bytesToMake(
        _ parts: some Sequence<RecordTexts.Part>, from old: RecordState?, to new: RecordState
    ) -> Int {
        (old.map { self.old.bytesToMake(parts, of: $0) } ?? 0) + self.new.bytesToMake(parts, of: new)
    }

    /// Makes the parts of both versions comparable.
    package mutating func make(
        _ parts: some Sequence<RecordTexts.Part>, from old: RecordState?, to new: RecordState
    ) {
        if let old { self.old.make(parts, of: old) }
        self.new.make(parts, of: new)
    }
}
