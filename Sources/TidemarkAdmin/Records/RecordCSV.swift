// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TidemarkDomain
internal import TidemarkFields

/// The CSV that `records export` writes and `import` reads back: `recordName`, `recordType`, `parent`, and a column
/// `KEY:TYPE` for each field. What has one simple form is written so: texts, numbers, dates, names. The rest is JSON as in a
/// ``RecordLine``. An empty cell is no value, and `""` an empty text.
enum RecordCSV {
    static let head = ["recordName", "recordType", "parent"]

    /// The columns of some fields, with the types that the schema gives them.
    ///
    /// - Parameters:
    ///   - keys: none: all fields of the types.
    ///   - type: the only type of the records; nil: all types.
    static func fields(_ keys: [String], of type: String?, in schema: Schema) throws(AdminFailure) -> [RecordCSVColumn]
    {
        let types = schema.types.filter { type == nil || $0.key == type }.values
        let wanted = keys.isEmpty ? Set(types.flatMap(\.fields.keys)).sorted() : keys
        guard Set(wanted).count == wanted.count else {
            throw AdminFailure(.usage, "A field is named twice: each column has another field.")
        }
        return try wanted.map { key throws(AdminFailure) in
            let names = Set(types.compactMap { $0.fields[key] }.map(name))
            guard let name = names.first else {
                throw AdminFailure(.refused, "No record type has a field \(key). See: tidemark admin schema export")
            }
            guard names.count == 1 else {
                throw AdminFailure(
                    .usage,
                    "The field \(key) has several types (\(names.sorted().joined(separator: ", "))). Choose with "
                        + "--type.")
            }
            return RecordCSVColumn(key: key, type: name)
        }
    }

    private static func name(_ field: FieldSchema) -> String {
        if field.isEncrypted { return RecordLineField.encryptedType }
        return FieldType(rawValue: field.type.code).map { RecordLineField.name(of: $0) } ?? ""
    }

    /// A record, with how many of its values are left out: those that do not have the type of their column.
    ///
    /// - Parameter isWhole: whether all fields are wanted, so that those without a column are left out as well.
    static func text(
        _ line: RecordLine, _ columns: [RecordCSVColumn], isWhole: Bool = false
    ) throws -> (text: String, leftOutCount: Int) {
        var cells: [String?] = [line.recordName, line.recordType, line.parent]
        var leftOutCount = isWhole ? Set(line.fields.keys).subtracting(columns.map(\.key)).count : 0
        for column in columns {
            let field = line.fields[column.key]
            let fits = field.map { $0.type == column.type || $0.isEmptyList && column.type.hasPrefix("list") } ?? true
            if !fits { leftOutCount += 1 }
            cells.append(fits ? try field?.cell : nil)
        }
        return (CSVLine.text(cells), leftOutCount)
    }
}

/// A column of a field in a ``RecordCSV``.
struct RecordCSVColumn: Equatable {
    let key: String
    /// As ``RecordLineField/type``.
    let type: String

    var title: String { "\(key):\(type)" }

    init(key: String, type: String) {
        self.key = key
        self.type = type
    }

    /// Nil if the column is none.
    init?(title: String) {
        guard let mark = title.lastIndex(of: ":") else { return nil }
        key = String(title[..<mark])
        type = String(title[title.index(after: mark)...])
        guard !key.isEmpty, RecordLineField.isType(type) else { return nil }
    }
}

/// Reads the records of a CSV that `records export` wrote.
struct RecordCSVSource: RecordSource {
    private var reader: CSVReader
    private let fields: [RecordCSVColumn]

    /// Nil if the columns are others.
    ///
    /// - Parameter rowBytesMax: of a row, which has a whole record: more than rows of other files have.
    init?(_ reader: CSVReader, rowBytesMax: Int = InputLimits.recordLineBytesMax) {
        let columns = reader.columns.dropFirst(RecordCSV.head.count)
        let fields = columns.compactMap { RecordCSVColumn(title: $0) }
        guard reader.columns.starts(with: RecordCSV.head), fields.count == columns.count else { return nil }
        self.reader = reader
        self.reader.rowBytesMax = rowBytesMax
        self.fields = fields
    }

    mutating func next() throws(AdminFailure) -> SourcedRecord? {
        guard let row = try reader.nextTexts() else { return nil }
        do throws(InputMistake) {
            return SourcedRecord(line: row.line, record: .success(try record(try row.texts.get())))
        } catch {
            return SourcedRecord(line: row.line, record: .failure(error))
        }
    }

    private func record(_ cells: [String?]) throws(InputMistake) -> RecordLine {
        guard let name = cells[0], let type = cells[1] else {
            throw InputMistake("The columns recordName and recordType must have a text.")
        }
        var values: [String: RecordLineField] = [:]
        for (field, cell) in zip(fields, cells.dropFirst(RecordCSV.head.count)) {
            guard let cell else { continue }
            guard let value = RecordLineField(cell: cell, type: field.type) else {
                throw InputMistake("The column \(field.title) has no value of its type.")
            }
            values[field.key] = value
        }
        return RecordLine(recordName: name, recordType: type, parent: cells[2], fields: values)
    }
}

extension RecordLineField {
    fileprivate var isEmptyList: Bool { value == .emptyList }

    /// As a cell of CSV; nil if the value is not here.
    var cell: String? {
        get throws {
            switch content {
            case nil: nil
            case .text(let text): text
            case .integer(let number): "\(number)"
            case .number(let number): "\(number)"
            case .link(let link) where !link.deleteSelf && link.recordName.first != "{": link.recordName
            case .link(let link): try Self.json(link)
            case .place(let place): try Self.json(place)
            case .file(let file): try Self.json(file)
            case .list(let parts): try Self.json(parts)
            }
        }
    }

    private static func json(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self).harmlessJSON
    }

    /// Nil if the cell has no value of the type.
    init?(cell: String, type: String) {
        let content: Content? =
            switch type {
            case "string", "bytes", Self.encryptedType: .text(cell)
            case "int64": Int64(cell).map { .integer($0) }
            case "double": ExactNumber(text: cell) == nil ? Double(cell).map { .number($0) } : .text(cell)
            case "date": Double(cell).map { .number($0) } ?? .text(cell)
            case "reference" where cell.first != "{": .link(Content.Link(recordName: cell, deleteSelf: false))
            default: try? JSONDecoder().decode(Content.self, from: Data(cell.utf8))
            }
        guard let content else { return nil }
        self.init(type: type, content: content)
        guard value != nil else { return nil }
    }
}
