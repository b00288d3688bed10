// SPDX-License-Identifier: Apache-2.0

internal import TidemarkFields

/// The type that a schema gives a field: one of CloudKit's, or a list of one.
///
/// Its code is that of the ``FieldType``, and is stored.
package struct SchemaFieldType: Hashable, Sendable {
    /// The type of a value, or of a list's elements.
    package enum Element: UInt8, Sendable, CaseIterable {
        case string = 1
        case int64 = 2
        case double = 3
        case date = 4
        case bytes = 5
        case reference = 6
        case asset = 7
        case location = 8
    }

    package let element: Element
    package let isList: Bool

    package init(_ element: Element, isList: Bool = false) {
        self.element = element
        self.isList = isList
    }

    package static func list(_ element: Element) -> SchemaFieldType { SchemaFieldType(element, isList: true) }

    /// Every type.
    package static var all: [SchemaFieldType] {
        Element.allCases.flatMap { [SchemaFieldType($0), .list($0)] }
    }

    /// Nil for a code of no type, and for the codes of a removal and an empty list, which tell no type.
    package init?(code: UInt8) {
        let isList = code > FieldType.emptyList.rawValue
        guard let element = Element(rawValue: isList ? code - FieldType.emptyList.rawValue : code) else { return nil }
        self.init(element, isList: isList)
    }

    package var code: UInt8 { element.rawValue + (isList ? FieldType.emptyList.rawValue : 0) }

    /// The name in CloudKit's schema language.
    package var name: String { isList ? "LIST<\(element.name)>" : element.name }

    /// The marks that a field of this type can have: what predicates and sorts may use.
    package var possibleMarks: FieldMarks {
        switch (element, isList) {
        case (.bytes, _), (.asset, _): []
        case (.string, false): [.queryable, .sortable, .searchable]
        case (.string, true): [.queryable, .searchable]
        case (_, false): [.queryable, .sortable]
        case (_, true): [.queryable]
        }
    }
}

extension SchemaFieldType.Element {
    /// The name in CloudKit's schema language.
    package var name: String {
        switch self {
        case .string: "STRING"
        case .int64: "INT64"
        case .double: "DOUBLE"
        case .date: "TIMESTAMP"
        case .bytes: "BYTES"
        case .reference: "REFERENCE"
        case .asset: "ASSET"
        case .location: "LOCATION"
        }
    }
}
