// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TidemarkPostgres
internal import TidemarkStore

/// Statements with one text and several sets of parameters, in the format of `tidemark-yardstick statement`
/// (`statement.c`).
enum StatementFile {
    static func write(_ samples: [PostgresStorage.SentStatement], to path: String) throws {
        guard let first = samples.first else { throw BenchError("There is no statement.") }
        guard samples.allSatisfy({ $0.statement.sql == first.statement.sql }) else {
            throw BenchError("The statements have several texts.")
        }
        var file = StatementFileBytes()
        file.add(first.settings.map { "SET \($0.name) = '\($0.value)'" }.joined(separator: ";"))
        file.add(first.statement.sql)
        file.add(Int32(first.statement.types.count))
        for type in first.statement.types { file.add(Int32(bitPattern: type.rawValue)) }
        for sample in samples {
            for value in sample.statement.encodedValues {
                file.add(value.map { Int32($0.count) } ?? -1)
                file.bytes += value ?? []
            }
        }
        try Data(file.bytes).write(to: URL(fileURLWithPath: path))
    }
}

private struct StatementFileBytes {
    var bytes: [UInt8] = []

    mutating func add(_ number: Int32) {
        withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
    }

    mutating func add(_ text: String) {
        add(Int32(text.utf8.count))
        bytes += text.utf8
    }
}
