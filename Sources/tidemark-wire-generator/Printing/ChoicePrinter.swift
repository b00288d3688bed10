// SPDX-License-Identifier: Apache-2.0

/// Makes the Swift code of an enumeration.
struct ChoicePrinter {
    let choice: ChoiceDescriptor
    let file: ProtoFile

    func print(to printer: inout CodePrinter) {
        let name = file.typePrefix + choice.name
        let cases = choice.values.map { ($0, SwiftNames.choice($0.name, of: choice.name)) }
        printer.line()
        printer.documentation(file.comments[choice.path])
        printer.line("@usableFromInline")
        printer.block("package enum \(name): WireChoice") { printer in
            for (value, name) in cases {
                printer.documentation(file.comments[value.path])
                printer.line("case \(SwiftNames.declared(name))")
            }
            printer.line("/// A value that this version does not know.")
            printer.line("case unrecognized(Int32)")
            printer.line()
            let zero = cases.first { $0.0.number == 0 }.map(\.1) ?? ""
            printer.line("@usableFromInline package init() { self = .\(zero) }")
            printer.line()
            printer.line("@usableFromInline")
            printer.block("package init(rawValue: Int32)") { printer in
                printer.line("switch rawValue {")
                for (value, name) in cases { printer.line("case \(value.number): self = .\(name)") }
                printer.line("default: self = .unrecognized(rawValue)")
                printer.line("}")
            }
            printer.line()
            printer.line("@usableFromInline")
            printer.block("package var rawValue: Int32") { printer in
                printer.line("switch self {")
                for (value, name) in cases { printer.line("case .\(name): \(value.number)") }
                printer.line("case .unrecognized(let number): number")
                printer.line("}")
            }
        }
    }
}
