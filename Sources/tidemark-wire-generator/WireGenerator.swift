// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TidemarkBytes

/// Makes the Swift code of the protocol's messages from the `.proto` files. So field numbers are in those files only.
///
///     protoc --include_source_info --include_imports --descriptor_set_out=set Protos/*.proto
///     tidemark-wire-generator set Messages Table.swift
///
/// For messages that other code reads and writes, it makes only the tags:
///
///     tidemark-wire-generator --tags set FieldTag.swift
@main
enum WireGenerator {
    /// Arguments: a file with the descriptor set ("-" for standard input), then the folder for the code, and optionally
    /// the file for the table of the tests.
    static func main() {
        let arguments = Array(CommandLine.arguments.dropFirst())
        do {
            switch arguments.count {
            case 3 where arguments[0] == "--tags": try makeTags(of: arguments[1], in: arguments[2])
            case 2: try makeMessages(of: arguments[0], in: arguments[1], table: nil)
            case 3: try makeMessages(of: arguments[0], in: arguments[1], table: arguments[2])
            default:
                fail(
                    """
                    usage: tidemark-wire-generator DESCRIPTOR-SET FOLDER [TABLE]
                           tidemark-wire-generator --tags DESCRIPTOR-SET FILE
                    """)
            }
        } catch {
            fail("tidemark-wire-generator: \(error)")
        }
    }

    private static func makeMessages(of input: String, in output: String, table: String?) throws {
        let schema = try WireSchema(try files(in: input))
        let folder = URL(filePath: output, directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for file in schema.files {
            let printer = FilePrinter(file: file, schema: schema)
            try write(printer.text(), to: folder.appending(path: printer.name + ".swift"))
        }
        if let table { try write(JudgePrinter(schema: schema).text(), to: URL(filePath: table)) }
    }

    private static func makeTags(of input: String, in output: String) throws {
        guard let file = try files(in: input).first else { throw WireSchema.Failure(description: "the set is empty") }
        try write(try TagPrinter(file: file).text(), to: URL(filePath: output))
    }

    private static func files(in input: String) throws -> [ProtoFile] {
        let bytes = try input == "-" ? FileHandle.standardInput.readToEnd() : Data(contentsOf: URL(filePath: input))
        return try fileDescriptors(in: [UInt8](bytes ?? Data()))
    }

    private static func write(_ text: String, to file: URL) throws {
        try Data(text.utf8).write(to: file)
    }

    private static func fail(_ message: String) {
        FileHandle.standardError.write(Data((message + "\n").utf8))
        exit(1)
    }
}
