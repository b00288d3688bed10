// SPDX-License-Identifier: Apache-2.0

/// Makes functions that write a message field by field, for hot loops that make no message objects.
struct StreamPrinter {
    let typeName: String
    let codes: [FieldCode]

    private var values: [FieldCode] {
        codes.filter { !$0.isMessage && !$0.field.isRepeated && $0.field.oneofIndex == nil }
    }
    private var messages: [FieldCode] { codes.filter(\.isMessage) }

    func print(to printer: inout CodePrinter) {
        printer.line()
        printer.line("// Field by field, for hot loops that make no message objects.")
        printer.block("extension \(typeName)") { printer in
            printTags(to: &printer)
            if !values.isEmpty {
                printer.line()
                printWriting(to: &printer)
            }
            for code in messages {
                printer.line()
                printMessage(code, to: &printer)
            }
        }
    }

    private func printTags(to printer: inout CodePrinter) {
        printer.line("/// The fields' tags, as `WireReader.nextTag()` returns them.")
        printer.line("@usableFromInline")
        printer.block("package enum Tag") { printer in
            for code in codes {
                printer.line("@inlinable package static var \(code.name): UInt32 { \(code.tag) }")
            }
        }
    }

    /// The types of bytes are generic parameters, because content may be of any type that writes itself.
    private var generics: String {
        let bytes = values.filter { $0.verb == "content" }
        return bytes.isEmpty
            ? "" : "<" + bytes.map { typeParameter($0) + ": WireContent" }.joined(separator: ", ") + ">"
    }

    private func typeParameter(_ code: FieldCode) -> String { SwiftNames.capitalizedProperty(code.field.name) }

    private var parameters: [String] {
        values.map { code in
            switch (code.verb == "content", code.field.isOptional) {
            case (true, true): "\(code.name): \(typeParameter(code))? = [UInt8]?.none"
            case (true, false): "\(code.name): \(typeParameter(code)) = [UInt8]()"
            case (false, true): "\(code.name): \(code.elementType)? = nil"
            case (false, false): "\(code.name): \(code.elementType) = \(code.elementDefault)"
            }
        }
    }

    private func condition(_ code: FieldCode) -> String {
        if code.field.isOptional { return "let \(code.name)" }
        return code.verb == "content" ? "\(code.name).byteCount > 0" : code.isPresent(code.name)
    }

    private func printWriting(to printer: inout CodePrinter) {
        printer.line("/// Writes these fields, or counts their bytes. Omitted ones have their defaults.")
        printer.line("@inlinable")
        printer.call("package static func write\(generics)", parameters + ["to writer: inout WireWriter"], " {")
        printer.indented { printer in
            printer.block("guard !writer.isMeasuring else") { printer in
                printer.line("var size = 0")
                for code in values {
                    let size = "\(code.tagSize) + WireSize.\(code.verb)(\(code.name))"
                    printer.line("if \(condition(code)) { size += \(size) }")
                }
                printer.line("return writer.count(size)")
            }
            for code in values {
                printer.block("if \(condition(code))") { printer in
                    printer.line("writer.number(\(code.tag))")
                    printer.line("writer.\(code.verb)(\(code.name))")
                }
            }
        }
        printer.line("}")
    }

    private func printMessage(_ code: FieldCode, to printer: inout CodePrinter) {
        printer.line("/// The size of the field `\(code.name)`, if its message has `byteCount` bytes.")
        printer.line("@inlinable")
        printer.line(
            "package static func size(\(code.name) byteCount: Int) -> Int { \(code.tagSize) + WireSize.content(byteCount) }"
        )
        printer.line()
        printer.line("/// Writes tag and length of the field `\(code.name)`. The bytes of its message must follow.")
        printer.line("@inlinable")
        printer.block("package static func begin(\(code.name) byteCount: Int, to writer: inout WireWriter)") {
            printer in
            printer.line("writer.number(\(code.tag))")
            printer.line("writer.number(UInt64(byteCount))")
        }
    }
}
