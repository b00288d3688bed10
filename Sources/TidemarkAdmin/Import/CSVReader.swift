// SPDX-License-Identifier: Apache-2.0

/// Reads CSV (RFC 4180). The first row names the columns. Cells may be quoted, and then contain line breaks, doubled
/// quotation marks and delimiters. Empty cells have no value, and lines without any value are skipped.
struct CSVReader: InputReader {
    private(set) var columns: [String]
    private let file: InputFile
    private let delimiter: UInt8
    /// Bytes of one row.
    var rowBytesMax = InputLimits.rowBytesMax
    /// The line of the next byte.
    private var line = 1

    private static let quote = UInt8(ascii: "\"")
    private static let lineFeed = UInt8(ascii: "\n")
    private static let carriageReturn = UInt8(ascii: "\r")
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// - Throws: ``AdminFailure`` if there is no row of names, or if the names are not all there and different.
    init(_ file: InputFile, delimiter: UInt8 = UInt8(ascii: ",")) throws(AdminFailure) {
        self.file = file
        self.delimiter = delimiter
        columns = []
        try file.skip(Self.byteOrderMark)
        var cells: [String] = []
        if let head = try nextCells() {
            do throws(InputMistake) {
                cells = try head.cells.get().map { cell throws(InputMistake) in try cell.text }
            } catch {
                throw AdminFailure(.usage, "\(file.name):\(head.line): \(error.text)")
            }
        }
        guard !cells.isEmpty else {
            throw AdminFailure(.usage, "\(file.name) is empty: its first line must name the columns.")
        }
        guard Set(cells).count == cells.count else {
            throw AdminFailure(.usage, "\(file.name): two columns have the same name. Rename one in the first line.")
        }
        columns = cells
    }

    mutating func next() throws(AdminFailure) -> InputRow? {
        guard let row = try nextCells() else { return nil }
        do throws(InputMistake) {
            return InputRow(line: row.line, values: .success(try values(of: try row.cells.get())))
        } catch {
            return InputRow(line: row.line, values: .failure(error))
        }
    }

    /// The next row by columns. A cell without anything is nil, and an empty text is in quotation marks.
    mutating func nextTexts() throws(AdminFailure) -> (line: Int, texts: Result<[String?], InputMistake>)? {
        guard let row = try nextCells() else { return nil }
        do throws(InputMistake) {
            let cells = try checked(try row.cells.get())
            let texts = try cells.map { cell throws(InputMistake) in cell.isMissing ? nil : try cell.text }
            return (row.line, .success(texts))
        } catch {
            return (row.line, .failure(error))
        }
    }

    private func checked(_ cells: [CSVCell]) throws(InputMistake) -> [CSVCell] {
        guard cells.count == columns.count else {
            throw InputMistake(
                "There are \(cells.count) cells, but \(columns.count) columns. Is a delimiter not quoted?")
        }
        return cells
    }

    private func values(of cells: [CSVCell]) throws(InputMistake) -> [String: InputValue] {
        var values: [String: InputValue] = [:]
        for (column, cell) in zip(columns, try checked(cells)) where !cell.bytes.isEmpty {
            values[column] = .text(try cell.text)
        }
        return values
    }

    private enum State {
        case outside, quoted
        /// After the closing quotation mark of a cell.
        case closed
    }

    /// Nil at the end.
    private mutating func nextCells() throws(AdminFailure) -> (line: Int, cells: Result<[CSVCell], InputMistake>)? {
        var start = line
        var cells: [CSVCell] = []
        var cell = CSVCell()
        var state = State.outside
        var mistake: InputMistake?
        var byteCount = 0
        while let byte = try file.next() {
            byteCount += 1
            guard byteCount <= rowBytesMax else {
                throw AdminFailure(
                    .usage,
                    "\(file.name):\(start): The record that begins here has no end. Is a quotation mark missing?")
            }
            if byte == Self.lineFeed { line += 1 }
            switch (state, byte) {
            case (.quoted, Self.quote): state = .closed
            case (.quoted, _): cell.bytes.append(byte)
            case (.closed, Self.quote):
                cell.bytes.append(byte)
                state = .quoted
            case (.outside, Self.quote) where cell.bytes.isEmpty:
                cell.isQuoted = true
                state = .quoted
            case (_, delimiter):
                cells.append(cell)
                (cell, state) = (CSVCell(), .outside)
            case (_, Self.lineFeed):
                if cells.isEmpty, cell.bytes.isEmpty, state == .outside {
                    start = line
                    continue
                }
                return (start, Self.result(cells + [cell], mistake))
            case (_, Self.carriageReturn): if try file.peek() != Self.lineFeed { cell.bytes.append(byte) }
            case (.closed, _): mistake = InputMistake("There is text after a closing quotation mark.")
            case (.outside, _): cell.bytes.append(byte)
            }
        }
        if state == .quoted {
            mistake = InputMistake("The record that begins here has a quotation mark without an end.")
        }
        guard !cells.isEmpty || !cell.bytes.isEmpty || state != .outside else { return nil }
        return (start, Self.result(cells + [cell], mistake))
    }

    private static func result(_ cells: [CSVCell], _ mistake: InputMistake?) -> Result<[CSVCell], InputMistake> {
        mistake.map { .failure($0) } ?? .success(cells)
    }
}

/// The bytes of a cell.
private struct CSVCell {
    var bytes: [UInt8] = []
    var isQuoted = false

    var isMissing: Bool { bytes.isEmpty && !isQuoted }

    var text: String {
        get throws(InputMistake) {
            guard let text = String(validating: bytes, as: UTF8.self) else {
                throw InputMistake("This is not text in UTF-8. Convert the file.")
            }
            return text
        }
    }
}
