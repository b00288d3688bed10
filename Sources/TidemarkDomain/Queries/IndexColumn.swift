// SPDX-License-Identifier: Apache-2.0

package import TidemarkFields

/// The column beside a record by which a database finds it: one JSON object, made of ``IndexValue``s alone.
///
/// A marked field has one entry for each form; all searchable fields share one. Scalars are texts whose bytes sort in
/// the order of the values. So a database needs no type other than text in collation "C":
///
///     "=key": "…"        for equality; and for order, but of strings
///     "<key": "…"        for the order of strings
///     "*key": ["…", …]   the elements of a list, for equality, each behind the record's ``scope(_:_:)``
///     "@key": [x, y, z]  a location as an ``EarthPoint``; empty for what is no place on earth
///     "#": ["…", …]      the words of all searchable fields (R-179), each behind the scope
package enum IndexColumn {
    /// The use of an index entry. The raw value is the first character of its key.
    package enum Form: String, Sendable, CaseIterable {
        case equality = "="
        case order = "<"
        case members = "*"
        case place = "@"
    }

    /// The key of the words of full-text search.
    package static let words = "#"

    /// The prefix of elements and words. Their index has no other data of a record. Without the prefix, a search for a
    /// word would visit the records of all databases.
    package static func scope(_ database: DatabaseID, _ zone: ZoneID) -> String {
        "\(database.rawValue)/\(zone.rawValue)/"
    }

    /// The key of a field's entry.
    package static func key(_ form: Form, _ field: String) -> String { form.rawValue + field }

    /// The form that serves comparisons by order for values of this type.
    package static func orderForm(of type: SchemaFieldType) -> Form { type.element == .string ? .order : .equality }

    /// A scalar as text. A number: 16 hexadecimal digits of a double in sort order, then 3 of the remainder. A date or
    /// a user: 16 digits. A string as it is. Distances are never stored.
    package static func text(of value: IndexValue) -> String {
        switch value {
        case .number(let number): Hexadecimal.ordered(number.rounded) + Hexadecimal.digits(UInt64(number.remainder), 3)
        case .date(let milliseconds): Hexadecimal.ordered(milliseconds)
        case .user(let user): Hexadecimal.ordered(user)
        case .text(let text), .reference(let text): text.string
        case .distance(let chord): Hexadecimal.ordered(chord)
        }
    }
}

/// Writes the index column for records of one type. Writes nothing for a type without marks.
package struct IndexColumnWriter: Sendable {
    private let marked: [String: FieldSchema]

    package init(_ type: RecordTypeSchema) {
        marked = type.fields.filter { !$0.value.marks.isEmpty && !$0.value.isEncrypted }
    }

    package var isEmpty: Bool { marked.isEmpty }

    /// The JSON text; nil if the record has nothing to index.
    ///
    /// - Parameter scope: ``IndexColumn/scope(_:_:)`` of the record's zone.
    package func column(of fields: FieldMap, scope: String) -> String? {
        guard !marked.isEmpty else { return nil }
        var object = JSONObject()
        var searched: [String] = []
        for entry in fields where !entry.isEncrypted {
            guard let schema = marked[entry.key], let value = try? entry.value() else { continue }
            // If a schema was changed by force, older values may have another type. Queries do not find those.
            guard entry.typeCode == schema.type.code || (entry.type == .emptyList && schema.type.isList) else {
                continue
            }
            if schema.marks.contains(.searchable) { searched += value.strings }
            if !schema.marks.isDisjoint(with: [.queryable, .sortable]) {
                add(value, entry.key, schema, scope, to: &object)
            }
        }
        let words = IndexWords.of(searched)
        if !words.isEmpty { object.add(IndexColumn.words, texts: words.map { scope + $0.string }) }
        return object.isEmpty ? nil : object.text
    }

    private func add(
        _ value: FieldValue, _ key: String, _ schema: FieldSchema, _ scope: String, to object: inout JSONObject
    ) {
        if schema.type.isList {
            let elements = IndexValue.elements(of: value, for: .equality)
            return object.add(IndexColumn.key(.members, key), texts: elements.map { scope + IndexColumn.text(of: $0) })
        }
        if case .location(let location) = value {
            let point = EarthPoint(latitude: location.latitude, longitude: location.longitude)
            return object.add(IndexColumn.key(.place, key), numbers: point.map { [$0.x, $0.y, $0.z] } ?? [])
        }
        if let equality = IndexValue(value, for: .equality) {
            object.add(IndexColumn.key(.equality, key), text: IndexColumn.text(of: equality))
        }
        if IndexColumn.orderForm(of: schema.type) == .order, let order = IndexValue(value, for: .order) {
            object.add(IndexColumn.key(.order, key), text: IndexColumn.text(of: order))
        }
    }
}

extension FieldValue {
    /// The strings that full-text search looks at.
    fileprivate var strings: [String] {
        switch self {
        case .string(let string): [string]
        case .strings(let list): list
        default: []
        }
    }
}

private enum Hexadecimal {
    /// Sixteen digits that sort as text in the order of the numbers.
    static func ordered(_ number: Double) -> String {
        let bits = (number.isNaN ? Double.nan : number).bitPattern
        return digits(bits >> 63 == 1 ? ~bits : bits | 1 << 63, 16)
    }

    static func ordered(_ number: Int64) -> String { digits(UInt64(bitPattern: number) ^ 1 << 63, 16) }

    static func digits(_ number: UInt64, _ count: Int) -> String {
        let text = String(number, radix: 16)
        return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
    }
}

/// Writes JSON that PostgreSQL's jsonb accepts. Keys and texts contain no U+0000.
private struct JSONObject {
    private(set) var text = "{"

    var isEmpty: Bool { text == "{" }

    mutating func add(_ key: String, text value: String) {
        begin(key)
        JSONText.append(value, to: &text)
        text += "}"
    }

    mutating func add(_ key: String, texts values: [String]) {
        begin(key)
        text += JSONText.array(values) + "}"
    }

    mutating func add(_ key: String, numbers: [Double]) {
        begin(key)
        text += "[" + numbers.map(\.description).joined(separator: ",") + "]}"
    }

    private mutating func begin(_ key: String) {
        if !isEmpty {
            text.removeLast()
            text += ","
        }
        JSONText.append(key, to: &text)
        text += ":"
    }
}

/// Strings as JSON (RFC 8259 §7).
enum JSONText {
    static func array(_ values: [String]) -> String {
        var text = "["
        for (index, value) in values.enumerated() {
            if index > 0 { text += "," }
            append(value, to: &text)
        }
        return text + "]"
    }

    static func append(_ value: String, to text: inout String) {
        text += "\""
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\"", "\\":
                text += "\\"
                text.unicodeScalars.append(scalar)
            case _ where scalar.value < 0x20: text += "\\u" + Hexadecimal.digits(UInt64(scalar.value), 4)
            default: text.unicodeScalars.append(scalar)
            }
        }
        text += "\""
    }
}
