// SPDX-License-Identifier: Apache-2.0

/// Reads CSV (RFC 4180). The first row names the columns. Cells may be quoted, and then contain line breaks, doubled
/// quotation marks and delimiters. Empty cells have no value, and lines without any value are skipped.
struct CSVReader: InputReader {
    private(set) var columns: [String]
    private let file: InputFile
    private let delimiter: UInt8
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
                cells = try head.cells.get().map { cell throws(InputMistake) in try Self.text(cell) }
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

    private func values(of cells: [[UInt8]]) throws(InputMistake) -> [String: InputValue] {
        guard cells.count == columns.count else {
            throw InputMistake(
                "There are \(cells.count) cells, but \(columns.count) columns. Is a delimiter not quoted?")
        }
        var values: [String: InputValue] = [:]
        for (column, cell) in zip(columns, cells) where !cell.isEmpty {
            values[column] = .text(try Self.text(cell))
        }
        return values
    }

    private static func text(_ cell: [UInt8]) throws(InputMistake) -> String {
        guard let text = String(validating: cell, as: UTF8.self) else {
            throw InputMistake("This is not text in UTF-8. Convert the file.")
        }
        return text
    }

    private enum State {
        case outside, quoted
        /// After the closing quotation mark of a cell.
        case closed
    }

    /// Nil at the end.
    private mutating func nextCells() throws(AdminFailure) -> (line: Int, cells: Result<[[UInt8]], InputMistake>)? {
        var start = line
        var cells: [[UInt8]] = []
        var cell: [UInt8] = []
        var state = State.outside
        var mistake: InputMistake?
        var byteCount = 0
        while let byte = try file.next() {
            byteCount += 1
            guard byteCount <= InputLimits.rowBytesMax else {
                throw AdminFailure(
                    .usage,
                    "\(file.name):\(start): The record that begins here has no end. Is a quotation mark missing?")
            }
            if byte == Self.lineFeed { line += 1 }
            switch (state, byte) {
            case (.quoted, Self.quote): state = .closed
            case (.quoted, _): cell.append(byte)
            case (.closed, Self.quote):
                cell.append(byte)
                state = .quoted
            case (.outside, Self.quote) where cell.isEmpty: state = .quoted
            case (_, delimiter):
                cells.append(cell)
                (cell, state) = ([], .outside)
            case (_, Self.lineFeed):
                if cells.isEmpty, cell.isEmpty, state == .outside {
                    start = line
                    continue
                }
                return (start, Self.result(cells + [cell], mistake))
            case (_, Self.carriageReturn): if try file.peek() != Self.lineFeed { cell.append(byte) }
            case (.closed, _): mistake = InputMistake("There is text after a closing quotation mark.")
            case (.outside, _): cell.append(byte)
            }
        }
        if state == .quoted {
            mistake = InputMistake("The record that begins here has a quotation mark without an end.")
        }
        guard !cells.isEmpty || !cell.isEmpty || state != .outside else { return nil }
        return (start, Self.result(cells + [cell], mistake))
    }

    private static func result(_ cells: [[UInt8]], _ mistake: InputMistake?) -> Result<[[UInt8]], InputMistake> {
        mistake.map { .failure($0) } ?? .success(cells)
    }
}
