// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// Reads JSON lines: one object in each line, whose keys are the columns. Null has no value; empty lines are skipped.
struct JSONLinesReader: InputReader {
    private let file: InputFile
    private let lineBytesMax: Int
    /// The number of the line that was read last, from 1.
    private(set) var line = 0
    /// A line that was looked at, and is not taken yet.
    private var ahead: [UInt8]?

    /// - Parameter lineBytesMax: of lines of records with types. Those of other objects are shorter (``next()``).
    init(_ file: InputFile, lineBytesMax: Int = InputLimits.rowBytesMax) {
        self.file = file
        self.lineBytesMax = lineBytesMax
    }

    mutating func next() throws(AdminFailure) -> InputRow? {
        while let bytes = try nextLine() {
            guard bytes.count <= InputLimits.rowBytesMax else { throw tooLong }
            if Self.isBlank(bytes) { continue }
            return InputRow(line: line, values: Self.values(of: bytes))
        }
        return nil
    }

    private static func values(of bytes: [UInt8]) -> Result<[String: InputValue], InputMistake> {
        do {
            let parts = try JSONDecoder().decode([String: JSONPart].self, from: Data(bytes))
            return .success(parts.compactMapValues(\.value))
        } catch {
            return .failure(InputMistake("This line is not a JSON object: {\"column\": value, …}, in UTF-8."))
        }
    }

    static func isBlank(_ line: [UInt8]) -> Bool { line.allSatisfy { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D } }

    /// The first line that has something, which is still to be read; nil if there is none.
    mutating func firstLine() throws(AdminFailure) -> [UInt8]? {
        while ahead == nil, let bytes = try nextLine() {
            if !Self.isBlank(bytes) { ahead = bytes }
        }
        return ahead
    }

    /// Nil at the end.
    mutating func nextLine() throws(AdminFailure) -> [UInt8]? {
        if let bytes = ahead {
            ahead = nil
            return bytes
        }
        guard try file.peek() != nil else { return nil }
        line += 1
        var bytes: [UInt8] = []
        while let byte = try file.next(), byte != UInt8(ascii: "\n") {
            bytes.append(byte)
            guard bytes.count <= lineBytesMax else { throw tooLong }
        }
        return bytes
    }

    private var tooLong: AdminFailure {
        AdminFailure(.usage, "\(file.name):\(line): The line is too long for a record. Is this JSON lines?")
    }
}

/// Any JSON.
private struct JSONPart: Decodable {
    /// Nil for null.
    let value: InputValue?

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            value = nil
        } else if let truth = try? container.decode(Bool.self) {
            value = .truth(truth)
        } else if let number = try? container.decode(Int64.self) {
            value = .integer(number)
        } else if let number = try? container.decode(Double.self) {
            value = .number(number)
        } else if let text = try? container.decode(String.self) {
            value = .text(text)
        } else if let parts = try? container.decode([JSONPart].self) {
            value = .list(parts.compactMap(\.value))
        } else {
            value = .object
        }
    }
}
