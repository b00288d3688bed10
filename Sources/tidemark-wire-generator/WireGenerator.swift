// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TidemarkBytes

/// Makes the Swift code of the protocol's messages from the `.proto` files, so that a field's number stands there alone.
///
///     protoc --include_source_info --include_imports --descriptor_set_out=set Protos/*.proto
///     tidemark-wire-generator set Messages Table.swift
@main
enum WireGenerator {
    /// Arguments: a file with the descriptor set ("-": standard input), the folder for the code, and, if wanted, the file
    /// for the table that tests use.
    static func main() {
        let arguments = CommandLine.arguments.dropFirst()
        guard arguments.count == 2 || arguments.count == 3, let input = arguments.first else {
            return fail("usage: tidemark-wire-generator DESCRIPTOR-SET FOLDER [TABLE]")
        }
        do {
            let bytes = try input == "-" ? FileHandle.standardInput.readToEnd() : Data(contentsOf: URL(filePath: input))
            let schema = try Schema(try fileDescriptors(in: [UInt8](bytes ?? Data())))
            let folder = URL(filePath: arguments[2], directoryHint: .isDirectory)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            for file in schema.files {
                let printer = FilePrinter(file: file, schema: schema)
                try write(printer.text(), to: folder.appending(path: printer.name + ".swift"))
            }
            guard arguments.count == 3 else { return }
            try write(JudgePrinter(schema: schema).text(), to: URL(filePath: arguments[3]))
        } catch {
            fail("tidemark-wire-generator: \(error)")
        }
    }

    private static func write(_ text: String, to file: URL) throws {
        try Data(text.utf8).write(to: file)
    }

    private static func fail(_ message: String) {
        FileHandle.standardError.write(Data((message + "\n").utf8))
        exit(1)
    }
}
