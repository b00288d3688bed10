// SPDX-License-Identifier: Apache-2.0

/// Makes one Swift file from one `.proto` file.
struct FilePrinter {
    let file: ProtoFile
    let schema: WireSchema

    /// "Records" of "Records.proto".
    var name: String { String(file.name.split(separator: "/").last?.split(separator: ".").first ?? "") }

    func text() -> String {
        var printer = CodePrinter()
        printer.line("// SPDX-License-Identifier: Apache-2.0")
        printer.line("//")
        printer.line(
            "// Made by tidemark-wire-generator from Protos/\(name).proto. Change that, and run `make protocol`.")
        printer.line()
        printer.line("public import TidemarkBytes")
        for message in file.messages { MessagePrinter(message, of: file, in: schema).print(to: &printer) }
        for choice in file.choices { ChoicePrinter(choice: choice, file: file).print(to: &printer) }
        return printer.text
    }
}
