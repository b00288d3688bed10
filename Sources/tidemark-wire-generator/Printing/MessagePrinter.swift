// SPDX-License-Identifier: Apache-2.0

/// Makes the Swift code of a message: its type, and the functions that read, measure and write it.
///
/// All of it is usable from inline. Otherwise the inlinable functions of ``StreamPrinter`` would be called, not inlined,
/// in other modules: measured, 2 µs more for each record that is saved.
struct MessagePrinter {
    /// If a oneof has more messages, it holds one by reference.
    private static let inlineMessagesMax = 16

    let message: MessageDescriptor
    let file: ProtoFile
    let schema: WireSchema
    /// In the order of their numbers, as they are written.
    private let codes: [FieldCode]

    init(_ message: MessageDescriptor, of file: ProtoFile, in schema: WireSchema) {
        self.message = message
        self.file = file
        self.schema = schema
        codes = message.fields.sorted { $0.number < $1.number }
            .map { FieldCode(field: $0, typeName: schema.typeName(of: $0)) }
    }

    private var typeName: String { file.typePrefix + message.name }

    func print(to printer: inout CodePrinter) {
        printer.line()
        printer.documentation(file.comments[message.path])
        printer.line("@usableFromInline")
        printer.block("package struct \(typeName): WireMessage") { printer in
            printProperties(to: &printer)
            printer.line("@usableFromInline package init() {}")
        }
        printer.line()
        printer.block("extension \(typeName)") { printer in
            if let elementsMax = message.elementsInAllMax {
                printer.line("@usableFromInline package static var elementsInAllMax: Int { \(elementsMax) }")
                printer.line()
            }
            printReading(to: &printer)
            printSize(to: &printer)
            printWriting(to: &printer)
        }
        if message.isStreamed { StreamPrinter(typeName: typeName, codes: codes).print(to: &printer) }
        guard message.listsKinds else { return }
        for index in message.oneofs.indices where codes.contains(where: { $0.field.oneofIndex == index }) {
            printKinds(of: index, to: &printer)
        }
    }

    // MARK: Properties

    private func printProperties(to printer: inout CodePrinter) {
        var printedOneofs: Set<Int> = []
        for field in message.fields {
            let code = FieldCode(field: field, typeName: schema.typeName(of: field))
            if let index = field.oneofIndex {
                if printedOneofs.insert(index).inserted { printOneof(index, to: &printer) }
            } else if code.hasPresence {
                printPresence(code, to: &printer)
            } else {
                printer.documentation(file.comments[field.path])
                printer.line(code.declaration)
            }
        }
        if message.keepsUnknownFields {
            printer.line("/// Fields that this program does not know.")
            printer.line("package var unknownFields: [UInt8] = []")
        }
        if !message.fields.isEmpty || message.keepsUnknownFields { printer.line() }
    }

    private func printPresence(_ code: FieldCode, to printer: inout CodePrinter) {
        let (name, type) = (code.name, code.typeName)
        let stored = "present" + SwiftNames.capitalizedProperty(code.field.name)
        printer.documentation(file.comments[code.field.path])
        printer.block("package var \(SwiftNames.declared(name)): \(type)") { printer in
            printer.line("get { \(stored) ?? \(type)() }")
            printer.line("set { \(stored) = newValue }")
        }
        printer.line("package var has\(SwiftNames.capitalizedProperty(code.field.name)): Bool { \(stored) != nil }")
        printer.line("private var \(stored): \(type)?")
    }

    private func oneofType(_ index: Int) -> String { "OneOf" + SwiftNames.capitalizedProperty(message.oneofs[index]) }
    private func oneofName(_ index: Int) -> String { SwiftNames.property(message.oneofs[index]) }

    private func printOneof(_ index: Int, to printer: inout CodePrinter) {
        let members = codes.filter { $0.field.oneofIndex == index }
        // One of very many messages is passed on as a reference. Copies would have the size of the largest.
        let isLarge = members.count { $0.isMessage } > Self.inlineMessagesMax
        printer.line("/// One of these, or none.")
        printer.block("package enum \(oneofType(index)): Sendable, Equatable") { printer in
            for code in members {
                let isIndirect =
                    code.isMessage && (isLarge || schema.isRecursive(code.field, in: message, of: file))
                printer.documentation(file.comments[code.field.path])
                printer.line(
                    "\(isIndirect ? "indirect " : "")case \(SwiftNames.declared(code.name))(\(code.elementType))")
            }
        }
        printer.line()
        printer.line("package var \(SwiftNames.declared(oneofName(index))): \(oneofType(index))?")
        for code in members {
            printer.line()
            printer.block("package var \(SwiftNames.declared(code.name)): \(code.elementType)") { printer in
                printer.block("get") { printer in
                    printer.line(
                        "if case .\(code.name)(let value)? = \(oneofName(index)) { value } else { \(code.elementDefault) }"
                    )
                }
                printer.line("set { \(oneofName(index)) = .\(code.name)(newValue) }")
            }
        }
        printer.line()
    }

    /// What a oneof may hold, without the values.
    private func printKinds(of index: Int, to printer: inout CodePrinter) {
        let members = message.fields.filter { $0.oneofIndex == index }
            .map { (name: $0.name, value: SwiftNames.property($0.name)) }
        let type = file.typePrefix + SwiftNames.capitalizedProperty(message.oneofs[index]) + "Kind"
        printer.line()
        printer.line("/// What ``\(typeName)/\(oneofName(index))`` holds. The raw values are the places among all.")
        printer.block("package enum \(type): Int, CaseIterable, Sendable") { printer in
            for member in members { printer.line("case \(SwiftNames.declared(member.value))") }
            printer.line("/// None was read: there is none, this version does not know it, or it was refused before.")
            printer.line("case unread")
            printer.line()
            printer.line("/// The name of the field.")
            printer.block("package var name: String") { printer in
                printer.line("switch self {")
                for member in members { printer.line("case .\(member.value): \"\(member.name)\"") }
                printer.line("case .unread: \"unread\"")
                printer.line("}")
            }
        }
        printer.line()
        printer.block("extension \(typeName).\(oneofType(index))") { printer in
            printer.block("package var kind: \(type)") { printer in
                printer.line("switch self {")
                for member in members { printer.line("case .\(member.value): .\(member.value)") }
                printer.line("}")
            }
        }
    }

    // MARK: Reading

    private func printReading(to printer: inout CodePrinter) {
        printer.line("@usableFromInline")
        printer.block("package mutating func read(_ reader: inout WireReader) throws(WireError)") { printer in
            if let depthMax = message.depthMax, let countMax = message.countInAllMax {
                printer.line("try reader.enter(atMost: \(depthMax), inAll: \(countMax))")
                printer.line("defer { reader.leave() }")
            }
            printer.block("while let tag = try reader.nextTag()") { printer in
                let known = codes.reduce(UInt64(0)) { $0 | UInt64(1) << UInt64($1.field.number) }
                let numbers = "0x" + String(known, radix: 16, uppercase: true)
                let other =
                    message.keepsUnknownFields
                    ? "try reader.keep(tag, known: \(numbers), in: &unknownFields)"
                    : "try reader.skip(tag, known: \(numbers))"
                guard !codes.isEmpty else { return printer.line(other) }
                printer.line("switch tag {")
                for code in codes { printCase(code, to: &printer) }
                printer.line("default: \(other)")
                printer.line("}")
            }
        }
        printer.line()
    }

    /// A message that is read into another one is taken out of it first. Otherwise its lists would be copied with each
    /// of its pieces, as a second owner has them.
    private func printCase(_ code: FieldCode, to printer: inout CodePrinter) {
        func printLines(_ tag: Int32, _ lines: [String]) {
            let one = "case \(tag): \(lines[0])"
            guard lines.count > 1 || one.count > 108 else { return printer.line(one) }
            printer.line("case \(tag):")
            printer.indented { printer in for line in lines { printer.line(line) } }
        }
        if let index = code.field.oneofIndex {
            if code.isMessage {
                printLines(
                    code.tag,
                    [
                        "var value = self.\(code.name)", "self.\(oneofName(index)) = nil", "try reader.read(&value)",
                        "self.\(oneofName(index)) = .\(code.name)(value)",
                    ])
            } else {
                printLines(code.tag, ["self.\(oneofName(index)) = .\(code.name)(\(code.reading))"])
            }
        } else if code.hasPresence {
            let stored = "present" + SwiftNames.capitalizedProperty(code.field.name)
            printLines(
                code.tag,
                [
                    "var value = self.\(stored) ?? \(code.typeName)()", "self.\(stored) = nil",
                    "try reader.read(&value)",
                    "self.\(stored) = value",
                ])
        } else {
            printLines(code.tag, code.readLines)
            if let tag = code.elementTag { printLines(tag, code.readElementLines) }
        }
    }

    // MARK: Size and writing

    /// Calls `value` for each field, inside the condition that it is present.
    private func printFields(
        to printer: inout CodePrinter, _ value: (FieldCode, String, inout CodePrinter) -> Void,
        packed: (FieldCode, inout CodePrinter) -> Void
    ) {
        var printedOneofs: Set<Int> = []
        for code in codes {
            if let index = code.field.oneofIndex {
                guard printedOneofs.insert(index).inserted else { continue }
                printer.line("switch \(oneofName(index)) {")
                for member in codes where member.field.oneofIndex == index {
                    printer.line("case .\(member.name)(let value)?:")
                    printer.indented { value(member, "value", &$0) }
                }
                printer.line("case nil: break")
                printer.line("}")
            } else if code.elementTag != nil {
                printer.block("if !\(code.name).isEmpty") { packed(code, &$0) }
            } else if code.field.isRepeated {
                printer.block("for value in \(code.name)") { value(code, "value", &$0) }
            } else if code.hasPresence {
                let stored = "present" + SwiftNames.capitalizedProperty(code.field.name)
                printer.block("if let \(stored)") { value(code, stored, &$0) }
            } else if code.field.isOptional {
                printer.block("if let \(code.name)") { value(code, code.name, &$0) }
            } else {
                printer.block("if \(code.isPresent(code.name))") { value(code, code.name, &$0) }
            }
        }
    }

    private func printSize(to printer: inout CodePrinter) {
        guard !codes.isEmpty else {
            return printer.line(
                "@usableFromInline package var size: Int { \(message.keepsUnknownFields ? "unknownFields.count" : "0") }\n"
            )
        }
        printer.line("@usableFromInline")
        printer.block("package var size: Int") { printer in
            printer.line("var size = \(message.keepsUnknownFields ? "unknownFields.count" : "0")")
            printFields(to: &printer) { code, value, printer in
                printer.line("size += \(code.tagSize) + WireSize.\(code.verb)(\(value))")
            } packed: { code, printer in
                printer.line("let length = \(code.name).reduce(0) { $0 + WireSize.\(code.verb)($1) }")
                printer.line("size += \(code.tagSize) + WireSize.content(length)")
            }
            printer.line("return size")
        }
        printer.line()
    }

    private func printWriting(to printer: inout CodePrinter) {
        let head = "package func write(to writer: inout WireWriter)"
        printer.line("@usableFromInline")
        guard !codes.isEmpty || message.keepsUnknownFields else { return printer.line(head + " {}") }
        printer.block(head) { printer in
            printFields(to: &printer) { code, value, printer in
                printer.line("writer.number(\(code.tag))")
                printer.line("writer.\(code.verb)(\(value))")
            } packed: { code, printer in
                printer.line("writer.number(\(code.tag))")
                printer.line("writer.number(UInt64(\(code.name).reduce(0) { $0 + WireSize.\(code.verb)($1) }))")
                printer.line("for value in \(code.name) { writer.\(code.verb)(value) }")
            }
            if message.keepsUnknownFields { printer.line("writer.raw(unknownFields)") }
        }
    }
}
