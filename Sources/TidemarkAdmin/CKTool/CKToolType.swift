// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkFields

/// A field's type in the words of `cktool`: `stringType`, `stringListType` and so on.
struct CKToolType: Equatable, Sendable {
    enum Element: String, CaseIterable, Sendable {
        case string, int64, double, timestamp, location, bytes, reference, asset
    }

    let element: Element
    let isList: Bool

    init(_ element: Element, isList: Bool = false) {
        self.element = element
        self.isList = isList
    }

    /// Nil for any other word.
    init?(name: String) {
        for element in Element.allCases {
            for isList in [false, true] where CKToolType(element, isList: isList).name == name {
                self.init(element, isList: isList)
                return
            }
        }
        return nil
    }

    /// The type of an empty list whose elements have no known type.
    static let emptyListName = "emptyListType"

    var name: String { element.rawValue + (isList ? "ListType" : "Type") }

    static var names: String {
        Element.allCases.map { CKToolType($0).name }.joined(separator: ", ") + ", and lists such as stringListType"
    }

    /// The type of a list in a schema. Nil for anything else.
    init?(listOf type: SchemaFieldType) {
        guard type.isList, let list = FieldType(rawValue: type.code) else { return nil }
        self.init(of: list)
    }

    /// As a schema has it.
    var schemaType: SchemaFieldType {
        let element: SchemaFieldType.Element =
            switch element {
            case .string: .string
            case .int64: .int64
            case .double: .double
            case .timestamp: .date
            case .location: .location
            case .bytes: .bytes
            case .reference: .reference
            case .asset: .asset
            }
        return SchemaFieldType(element, isList: isList)
    }

    /// The type of a value that is stored. Nil for an empty list, whose elements have no type, and for a removed field.
    init?(of type: FieldType) {
        guard let element = Element(of: type.element ?? type) else { return nil }
        self.init(element, isList: type.isList)
    }
}

extension CKToolType.Element {
    fileprivate init?(of type: FieldType) {
        switch type {
        case .string: self = .string
        case .int64: self = .int64
        case .double: self = .double
        case .date: self = .timestamp
        case .location: self = .location
        case .bytes: self = .bytes
        case .reference: self = .reference
        case .asset: self = .asset
        default: return nil
        }
    }
}
