// SPDX-License-Identifier: Apache-2.0

/// Makes the table with which the tests compare each message with swift-protobuf's.
struct JudgePrinter {
    let schema: WireSchema

    func text() -> String {
        var printer = CodePrinter()
        printer.line("// SPDX-License-Identifier: Apache-2.0")
        printer.line("//")
        printer.line(
            "// Made by tidemark-wire-generator from the .proto files. Run `make protocol` after changing those.")
        // NB: in two parts, so that it does not apply to this file.
        printer.line("// swift-format-" + "ignore-file")
        printer.line()
        printer.line("import TidemarkWire")
        printer.line("import WireJudge")
        printer.line()
        printer.line("extension MessageShape {")
        printer.indented { printer in
            printer.line("/// Every message of the protocol.")
            printer.line("static let all: [MessageShape] = [")
            printer.indented { printer in
                for file in schema.files {
                    for message in file.messages { print(message, file.typePrefix, to: &printer) }
                }
            }
            printer.line("]")
        }
        printer.line("}")
        return printer.text
    }

    private func print(_ message: MessageDescriptor, _ prefix: String, to printer: inout CodePrinter) {
        let type = prefix + message.name
        printer.line("MessageShape(")
        printer.indented { printer in
            let options =
                (message.depthMax.map { ", depthMax: \($0)" } ?? "")
                + (message.countInAllMax.map { ", countInAllMax: \($0)" } ?? "")
                + (message.keepsUnknownFields ? ", keepsUnknownFields: true" : "")
            printer.line("\"\(type)\", TidemarkWire.\(type).self, WireJudge.\(type).self\(options),")
            printer.line("[")
            printer.indented { printer in
                for field in message.fields { printer.line(row(field)) }
            }
            printer.line("]),")
        }
    }

    private func row(_ field: FieldDescriptor) -> String {
        let kind: String =
            switch field.kind {
            case .message: ".message(\"\(schema.typeName(of: field))\")"
            case .choice: ".choice"
            case .double: ".double"
            case .int64: ".int64"
            case .sint64: ".sint64"
            case .uint64: ".uint64"
            case .int32: ".int32"
            case .uint32: ".uint32"
            case .bool: ".bool"
            case .string: ".string"
            case .bytes, nil: ".bytes"
            }
        let options =
            (field.elementsMax.map { ", elementsMax: \($0)" } ?? "")
            + (field.bytesMax.map { ", bytesMax: \($0)" } ?? "")
            + (field.oneofIndex.map { ", oneof: \($0)" } ?? "")
            + (field.isOptional ? ", isOptional: true" : "")
        return "FieldShape(\(field.number), \"\(field.name)\", \(kind)\(options)),"
    }
}
