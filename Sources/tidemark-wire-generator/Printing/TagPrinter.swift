// SPDX-License-Identifier: Apache-2.0

/// Makes only the tags of a `.proto` file's fields, for code that reads and writes the messages itself.
struct TagPrinter {
    let file: ProtoFile

    func text() throws(WireSchema.Failure) -> String {
        let name = file.name.split(separator: "/").last.map(String.init) ?? file.name
        var printer = CodePrinter()
        printer.line("// SPDX-License-Identifier: Apache-2.0")
        printer.line("//")
        printer.line("// Made by tidemark-wire-generator from Protos/\(name). Change that, and run `make protocol`.")
        printer.line()
        printer.line("/// The tags of fields: number and wire type in one byte.")
        let messages = file.messages.map { message in
            let codes = message.fields.sorted { $0.number < $1.number }.map { FieldCode(field: $0, typeName: "") }
            return (message, codes)
        }
        for (message, codes) in messages {
            guard let code = codes.first(where: { $0.field.kind == nil || $0.tagSize > 1 }) else { continue }
            throw WireSchema.Failure(
                description: "\(message.name): \(code.field.name): only tags of one byte, and types that are known")
        }
        printer.block("enum FieldTag") { printer in
            for (message, codes) in messages {
                printer.block("enum \(message.name)") { printer in
                    for code in codes { printer.line("static let \(code.name): UInt8 = \(code.tag)") }
                }
            }
        }
        return printer.text
    }
}
