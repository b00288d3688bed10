// SPDX-License-Identifier: Apache-2.0

/// The pieces of Swift code for one field.
struct FieldCode {
    let field: FieldDescriptor
    /// The name of the message or enumeration.
    let typeName: String

    /// The name in Swift. Keywords are in backticks.
    var name: String { SwiftNames.declared(SwiftNames.property(field.name)) }
    private var kind: FieldDescriptor.Kind { field.kind ?? .message }
    var isMessage: Bool { kind == .message }
    /// Whether it is a single message outside a oneof. Such a field is present or absent.
    var hasPresence: Bool { !field.isRepeated && field.oneofIndex == nil && isMessage }
    /// Whether one field holds several elements.
    private var isPacked: Bool { field.isRepeated && !isMessage && kind != .string && kind != .bytes }

    // MARK: Types

    /// The type of one value.
    var elementType: String {
        switch kind {
        case .double: "Double"
        case .int64, .sint64: "Int64"
        case .uint64: "UInt64"
        case .int32: "Int32"
        case .uint32: "UInt32"
        case .bool: "Bool"
        case .string: "String"
        case .bytes: field.isSlice ? "ArraySlice<UInt8>" : "[UInt8]"
        case .message, .choice: typeName
        }
    }

    /// The default of one value.
    var elementDefault: String {
        switch kind {
        case .double, .int64, .sint64, .uint64, .int32, .uint32: "0"
        case .bool: "false"
        case .string: "\"\""
        case .bytes: "[]"
        case .message, .choice: "\(typeName)()"
        }
    }

    /// The declaration of a property that is neither a message nor in a oneof.
    var declaration: String {
        if field.isRepeated { return "package var \(name): [\(elementType)] = []" }
        if field.isOptional { return "package var \(name): \(elementType)?" }
        switch kind {
        case .bool, .string: return "package var \(name) = \(elementDefault)"
        case .choice: return "package var \(name) = \(elementDefault)"
        default: return "package var \(name): \(elementType) = \(elementDefault)"
        }
    }

    // MARK: Tags

    private var wireType: Int32 {
        if isPacked { return 2 }
        switch kind {
        case .string, .bytes, .message: return 2
        case .double: return 1
        default: return 0
        }
    }

    var tag: Int32 { field.number << 3 | wireType }
    /// The tag of a single element of a packed field.
    var elementTag: Int32? { isPacked ? field.number << 3 | (kind == .double ? 1 : 0) : nil }
    var tagSize: Int { tag < 128 ? 1 : 2 }

    // MARK: Values

    /// The name of the type in `WireReader`, `WireWriter` and `WireSize`.
    var verb: String {
        switch kind {
        case .double: "double"
        case .int64: "int64"
        case .sint64: "zigzag"
        case .uint64: "uint64"
        case .int32: "int32"
        case .uint32: "uint32"
        case .bool: "flag"
        case .string: "text"
        case .bytes: "content"
        case .message: "message"
        case .choice: "choice"
        }
    }

    /// An expression that reads one value.
    var reading: String {
        let bound = field.bytesMax.map { "atMost: \(literal($0))" } ?? ""
        return "try reader.\(field.isSlice ? "slice" : verb)(\(bound))"
    }

    /// Lines that read one field and store it. They use `self`, because a field may have the name of a local variable.
    var readLines: [String] {
        guard let elementsMax = field.elementsMax else { return ["self.\(name) = \(reading)"] }
        let list = "to: &self.\(name), atMost: \(literal(elementsMax))"
        if isPacked { return elementLines("appendPacked(\(list))") }
        let bytesMax = field.bytesMax.map { ", bytesMax: \(literal($0))" } ?? ""
        return ["try reader.append(\(list)\(bytesMax))"]
    }

    /// As `readLines`, for a single element of a packed field.
    var readElementLines: [String] {
        elementLines("append(to: &self.\(name), atMost: \(literal(field.elementsMax ?? 0)))")
    }

    private func elementLines(_ call: String) -> [String] {
        ["try reader.\(call) { (reader) throws(WireError) in", "    \(reading)", "}"]
    }

    /// The condition under which the field is written.
    func isPresent(_ value: String) -> String {
        switch kind {
        case .double: "\(value).bitPattern != 0"
        case .int64, .sint64, .uint64, .int32, .uint32: "\(value) != 0"
        case .bool: value
        case .string, .bytes: "!\(value).isEmpty"
        case .choice: "\(value) != \(typeName)()"
        case .message: "true"
        }
    }

    func literal(_ number: Int) -> String {
        var digits = Array(String(number))
        for place in stride(from: digits.count - 3, to: 0, by: -3) { digits.insert("_", at: place) }
        return String(digits)
    }
}
