// SPDX-License-Identifier: Apache-2.0

package import TidemarkFields

/// The fields of a record type that a query may use: their types, and which are indexed.
///
/// Made from the container's schema. Without a schema (``unknown``) every field may be named, and comparisons go by the
/// types of the stored values.
package struct QueryFields: Sendable, Hashable {
    /// One field of a record type: its type, and which queries may use it.
    package struct FieldUse: Sendable, Hashable {
        package var type: FieldType
        package var isEncrypted: Bool
        package var isQueryable: Bool
        package var isSortable: Bool
        package var isSearchable: Bool

        package init(
            _ type: FieldType, isEncrypted: Bool = false, isQueryable: Bool = true, isSortable: Bool = true,
            isSearchable: Bool = true
        ) {
            self.type = type
            self.isEncrypted = isEncrypted
            self.isQueryable = isQueryable
            self.isSortable = isSortable
            self.isSearchable = isSearchable
        }
    }

    package var fields: [String: FieldUse]
    /// System fields that are not indexed (R-186: a frozen schema without a queryable recordName refuses TRUEPREDICATE).
    package var unqueryable: Set<QuerySystemKey>
    package var unsortable: Set<QuerySystemKey>
    /// Whether fields that are not listed may be named, because nothing is known of the type. If not:
    /// `queryFieldUnknown`.
    package var allowsOthers: Bool

    package init(
        _ fields: [String: FieldUse], unqueryable: Set<QuerySystemKey> = [], unsortable: Set<QuerySystemKey> = [],
        allowsOthers: Bool = true
    ) {
        self.fields = fields
        self.unqueryable = unqueryable
        self.unsortable = unsortable
        self.allowsOthers = allowsOthers
    }

    /// No schema: every field may be named, compared and searched.
    package static let unknown = QueryFields([:])

    /// The field that was probably meant by a mistyped name.
    func nearest(to name: String) -> String? {
        NearestName.of(name, among: Array(fields.keys) + QuerySystemKey.allCases.map(\.rawValue))
    }

    /// Whether `self CONTAINS` looks into this field.
    package func isSearchable(_ key: String) -> Bool {
        fields[key].map { $0.isSearchable && !$0.isEncrypted } ?? allowsOthers
    }
}

extension QueryFields {
    /// The fields of a record type in a schema.
    ///
    /// A field that the schema does not know exists in no record. A schema that still learns indexes whatever a
    /// query needs. A frozen one has what an operator marked.
    package init(_ type: RecordTypeSchema, isFrozen: Bool) {
        self.init([:], allowsOthers: false)
        for (key, field) in type.fields {
            guard let valueType = FieldType(rawValue: field.type.code) else { continue }
            let marks = isFrozen ? field.marks : .all
            fields[key] = FieldUse(
                valueType, isEncrypted: field.isEncrypted, isQueryable: marks.contains(.queryable),
                isSortable: marks.contains(.sortable), isSearchable: marks.contains(.searchable))
        }
        guard isFrozen else { return }
        for key in QuerySystemKey.allCases {
            let marks = type.systemMarks[SystemField(key)] ?? []
            if !marks.contains(.queryable) { unqueryable.insert(key) }
            if !marks.contains(.sortable) { unsortable.insert(key) }
        }
    }
}

extension FieldType {
    /// The kind as which values of this type, or elements of such a list, are compared; nil if predicates cannot use
    /// them.
    package var kind: QueryKind? {
        switch element ?? self {
        case .string: .text
        case .int64, .double: .number
        case .date: .date
        case .reference: .reference
        case .location: .location
        default: nil
        }
    }
}
