// SPDX-License-Identifier: Apache-2.0

/// What a field may be used for in queries. Values are stored.
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

/// What a schema says of one field of a record type.
package struct FieldSchema: Hashable, Sendable {
    package var type: SchemaFieldType
    /// Whether the key belongs to the encrypted values; such a field has no marks.
    package var isEncrypted: Bool
    package var marks: FieldMarks

    package init(_ type: SchemaFieldType, isEncrypted: Bool = false, marks: FieldMarks = []) {
        self.type = type
        self.isEncrypted = isEncrypted
        self.marks = marks
    }

    /// What it can be marked as.
    package var possibleMarks: FieldMarks { isEncrypted ? [] : type.possibleMarks }
}

/// The fields that every record has, by the names that the schema language gives them.
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

    /// What it can be marked as: any field that R-183 names may be used in predicates and sorts; the tag may not.
    package var possibleMarks: FieldMarks { self == .tag ? [] : [.queryable, .sortable] }
}
