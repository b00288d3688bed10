// SPDX-License-Identifier: Apache-2.0

package import TidemarkFields

/// What a query may know of a record type's fields: their types, and what is indexed.
///
/// Made from the container's schema. Without one (``unknown``) every field may be named, and comparisons go by the types of
/// the stored values.
package struct QueryFields: Sendable, Hashable {
    package struct Field: Sendable, Hashable {
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

    package var fields: [String: Field]
    /// System fields that are not indexed (R-186: a frozen schema without a queryable recordName refuses TRUEPREDICATE).
    package var unqueryable: Set<QuerySystemKey>
    package var unsortable: Set<QuerySystemKey>
    /// Whether a field that is not listed may be named: nothing is known. Else `queryFieldUnknown`.
    package var allowsOthers: Bool

    package init(
        _ fields: [String: Field], unqueryable: Set<QuerySystemKey> = [], unsortable: Set<QuerySystemKey> = [],
        allowsOthers: Bool = true
    ) {
        self.fields = fields
        self.unqueryable = unqueryable
        self.unsortable = unsortable
        self.allowsOthers = allowsOthers
    }

    /// Nothing is known: everything is allowed and searchable.
    package static let unknown = QueryFields([:])

    /// The field that somebody meant who wrote this.
    func nearest(to name: String) -> String? {
        NearestName.of(name, among: Array(fields.keys) + QuerySystemKey.allCases.map(\.rawValue))
    }

    /// Whether `self CONTAINS` looks into this field.
    package func isSearchable(_ key: String) -> Bool {
        fields[key].map { $0.isSearchable && !$0.isEncrypted } ?? allowsOthers
    }
}

extension QueryFields {
    /// What a schema says of a record type.
    ///
    /// A field that it does not know no record has. One that still learns indexes whatever is asked for, a
    /// frozen one has what an operator marked.
    package init(_ type: RecordTypeSchema, isFrozen: Bool) {
        self.init([:], allowsOthers: false)
        for (key, field) in type.fields {
            guard let valueType = FieldType(rawValue: field.type.code) else { continue }
            let marks = isFrozen ? field.marks : .all
            fields[key] = Field(
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
    /// What values of this type, or the elements of such a list, are compared as; nil: not usable in predicates.
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
