// SPDX-License-Identifier: Apache-2.0

/// The uses of a field in queries. Raw values are stored.
package struct FieldMarks: OptionSet, Hashable, Sendable {
    package let rawValue: Int16
    package init(rawValue: Int16) { self.rawValue = rawValue }

    /// In predicates.
    package static let queryable = FieldMarks(rawValue: 1)
    /// In sort descriptors.
    package static let sortable = FieldMarks(rawValue: 2)
    /// By `self CONTAINS`.
    package static let searchable = FieldMarks(rawValue: 4)

    package static let all: FieldMarks = [.queryable, .sortable, .searchable]
}

/// A schema's data of one field of a record type.
package struct FieldSchema: Hashable, Sendable {
    package var type: SchemaFieldType
    /// Whether the field's values are encrypted. Such a field has no marks.
    package var isEncrypted: Bool
    package var marks: FieldMarks

    package init(_ type: SchemaFieldType, isEncrypted: Bool = false, marks: FieldMarks = []) {
        self.type = type
        self.isEncrypted = isEncrypted
        self.marks = marks
    }

    /// The marks that the field can have.
    package var possibleMarks: FieldMarks { isEncrypted ? [] : type.possibleMarks }
}

/// The fields that every record has. Raw values are their names in the schema language.
package enum SystemField: String, Sendable, CaseIterable {
    case creationDate = "___createTime"
    case creator = "___createdBy"
    case tag = "___etag"
    case modificationDate = "___modTime"
    case lastModifier = "___modifiedBy"
    case parent = "___parent"
    case recordID = "___recordID"
    case share = "___share"

    package var type: SchemaFieldType {
        switch self {
        case .creationDate, .modificationDate: SchemaFieldType(.date)
        case .creator, .lastModifier, .parent, .recordID, .share: SchemaFieldType(.reference)
        case .tag: SchemaFieldType(.string)
        }
    }

    /// The marks that the field can have. Predicates and sorts may use every field that R-183 names, but not the tag.
    package var possibleMarks: FieldMarks { self == .tag ? [] : [.queryable, .sortable] }
}
