// SPDX-License-Identifier: Apache-2.0

internal import TidemarkFields

/// How records are made from an input's columns. Each line of a mapping file has one of these; `#` begins a comment:
///
///     type Airport
///     name icao
///     underscore x
///     field location location lat lon elevation*0.3048
///     skip lid
///     only
struct ImportMapping: Equatable {
    var recordType: String?
    /// The column that names the records.
    var nameColumn: String?
    /// The prefix for names that begin with an underscore, which no record may have (R-040).
    var underscorePrefix = ""
    var rules: [FieldRule] = []
    /// Columns that are left out.
    var skipped: Set<String> = []
    /// Whether columns without a rule become fields of their own names.
    var takesOthers = true

    init() {}

    /// - Throws: ``AdminFailure``, with a text that begins with the line.
    init(parsing text: String, file: String) throws(AdminFailure) {
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            do throws(AdminFailure) {
                try add(try Self.words(of: String(line)))
            } catch {
                throw AdminFailure(.usage, "\(file):\(index + 1): \(error.description)")
            }
        }
    }

    static func read(_ file: InputFile) throws(AdminFailure) -> ImportMapping {
        try ImportMapping(parsing: try file.text(byteCountMax: InputLimits.rowBytesMax), file: file.name)
    }

    private mutating func add(_ words: [String]) throws(AdminFailure) {
        guard let word = words.first else { return }
        switch (word, words.count) {
        case ("type", 2): recordType = words[1]
        case ("name", 2): nameColumn = words[1]
        case ("underscore", 2): underscorePrefix = words[1]
        case ("skip", 2): skipped.insert(words[1])
        case ("only", 1): takesOthers = false
        case ("field", _): try add(rule: Array(words.dropFirst()))
        default:
            throw AdminFailure(
                .usage,
                "A line is one of: type TYPE, name COLUMN, underscore TEXT, field KEY TYPE [COLUMN…], skip COLUMN, only."
            )
        }
    }

    /// Replaces a rule for the same field.
    mutating func add(rule words: [String]) throws(AdminFailure) {
        let rule = try FieldRule(words)
        rules.removeAll { $0.key == rule.key }
        rules.append(rule)
    }

    /// Words are separated by spaces. A word in quotation marks may contain spaces.
    static func words(of line: String) throws(AdminFailure) -> [String] {
        var words: [String] = []
        var word: String?
        var isQuoted = false
        for character in line {
            switch character {
            case "\"":
                isQuoted.toggle()
                word = word ?? ""
            case "#" where !isQuoted && word == nil: return words
            case _ where character.isWhitespace && !isQuoted:
                if let word { words.append(word) }
                word = nil
            default: word = (word ?? "") + String(character)
            }
        }
        guard !isQuoted else { throw AdminFailure(.usage, "A quotation mark is not closed: \(line)") }
        return words + (word.map { [$0] } ?? [])
    }

    /// What the mapping says of columns that do not exist.
    func missingColumns(of columns: [String]) -> [String] {
        let named = (nameColumn.map { [$0] } ?? []) + rules.flatMap(\.columns) + skipped.sorted()
        return named.filter { !columns.contains($0) }
    }
}

/// Makes records from rows.
struct RowConverter {
    private let mapping: ImportMapping
    private let nameColumn: String
    /// Columns that rules use.
    private let claimed: Set<String>
    /// The keys of other columns, once they have occurred.
    private var keys: [String: String] = [:]

    init(_ mapping: ImportMapping, nameColumn: String) {
        self.mapping = mapping
        self.nameColumn = nameColumn
        claimed = mapping.skipped.union(mapping.rules.flatMap(\.columns)).union([nameColumn])
    }

    mutating func record(
        of row: [String: InputValue]
    ) throws(InputMistake) -> (name: String, fields: FieldMap) {
        guard let input = row[nameColumn], let text = ScalarType.string(input) else {
            throw InputMistake("The column \(nameColumn) is empty, which names the record.")
        }
        var fields: [Field] = []
        for rule in mapping.rules {
            if let value = try rule.value(of: row, name: recordName) { fields.append(Field(rule.key, value)) }
        }
        if mapping.takesOthers {
            for (column, input) in row where !claimed.contains(column) {
                fields.append(Field(try key(of: column), try Self.value(of: input, column: column)))
            }
        }
        do throws(FieldError) {
            return (recordName(text), try FieldMap(fields))
        } catch {
            throw InputMistake(Self.text(of: error))
        }
    }

    private func recordName(_ text: String) -> String {
        text.hasPrefix("_") ? mapping.underscorePrefix + text : text
    }

    /// The column's name as a key: characters that a key cannot have become underscores.
    private mutating func key(of column: String) throws(InputMistake) -> String {
        if let key = keys[column] { return key }
        var key = String(column.unicodeScalars.map { Self.isAllowed($0) ? Character($0) : "_" })
        if !FieldKeyRule.app.allows(key) { key = "column_" + key }
        guard FieldKeyRule.app.allows(key) else {
            throw InputMistake("The column \(column) has a name that is too long for a field: give it a rule.")
        }
        guard !keys.values.contains(key), !mapping.rules.contains(where: { $0.key == key }) else {
            throw InputMistake(
                "The column \(column) would be the field \(key), which exists already: give it a rule.")
        }
        keys[column] = key
        return key
    }

    private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        scalar.isASCII && (scalar.properties.isAlphabetic || ("0"..."9").contains(scalar) || scalar == "_")
    }

    /// A value without a rule: texts become strings, and JSON shows the other types.
    private static func value(of input: InputValue, column: String) throws(InputMistake) -> FieldValue {
        switch input {
        case .text(let text): return .string(text)
        case .integer(let number): return .int64(number)
        case .number(let number): return .double(number)
        case .truth(let truth): return .int64(truth ? 1 : 0)
        case .list(let inputs):
            let parts = try inputs.map { part throws(InputMistake) in try value(of: part, column: column) }
            guard Set(parts.map(\.type)).count <= 1, !parts.contains(where: \.type.isList) else {
                throw InputMistake("The list in \(column) has values of several types: give it a rule.")
            }
            return FieldValue(list: parts)
        case .object:
            throw InputMistake("The column \(column) is an object, which no field can hold: give it a rule or skip it.")
        }
    }

    private static func text(of error: FieldError) -> String {
        switch error.code {
        case .tooLarge: "The record is too large."
        case .badValue:
            "A reference's name cannot be a record's name: 1 to 255 printable ASCII characters, no underscore first."
        case .duplicateKey: "Two columns are the same field."
        default: "The fields are not valid: \(error.code.rawValue)."
        }
    }
}
