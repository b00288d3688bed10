// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkFields
internal import TidemarkTranslation

/// A condition of `--filters`: `FIELD OPERATOR VALUE`.
struct CKToolFilter: Equatable, Sendable {
    enum Operator: String, CaseIterable, Sendable {
        case equals = "EQUALS"
        case notEquals = "NOT_EQUALS"
        case lessThan = "LESS_THAN"
        case lessThanOrEquals = "LESS_THAN_OR_EQUALS"
        case greaterThan = "GREATER_THAN"
        case greaterThanOrEquals = "GREATER_THAN_OR_EQUALS"
        case near = "NEAR"
        case containsAllTokens = "CONTAINS_ALL_TOKENS"
        case containsAnyTokens = "CONTAINS_ANY_TOKENS"
        case listContainsAny = "LIST_CONTAINS_ANY"
        case listNotContainsAny = "LIST_NOT_CONTAINS_ANY"

        /// Its other name; nil if it has none.
        var sign: String? {
            switch self {
            case .equals: "=="
            case .notEquals: "!="
            case .lessThan: "<"
            case .lessThanOrEquals: "<="
            case .greaterThan: ">"
            case .greaterThanOrEquals: ">="
            default: nil
            }
        }

        /// Nil for any other word.
        init?(word: String) {
            guard let found = Self.allCases.first(where: { $0.rawValue == word || $0.sign == word }) else { return nil }
            self = found
        }
    }

    /// What the field is compared with.
    enum Operand: Equatable, Sendable {
        case value(FieldValue)
        case list([FieldValue])
        case words(String)
        /// Nil: anywhere.
        case place(FieldLocation, metres: Double?)
    }

    let key: QueryKey
    let comparison: Operator
    let operand: Operand

    /// - Throws: ``InputMistake``, with a text that shows the form.
    init(parsing text: String, _ values: CKToolValueReader) throws(InputMistake) {
        let parts = text.split(maxSplits: 2, omittingEmptySubsequences: true, whereSeparator: { $0 == " " })
        guard parts.count == 3, let comparison = Operator(word: String(parts[1])) else {
            throw InputMistake(
                "A filter is \"FIELD OPERATOR VALUE\" with spaces between, such as \"pageCount > 100\", not \"\(text)\". "
                    + "Operators: " + Operator.allCases.map { $0.sign ?? $0.rawValue }.joined(separator: " "))
        }
        let value = Self.trimmed(parts[2])
        guard !value.isEmpty else { throw InputMistake("The filter \"\(text)\" has no value.") }
        key = CKToolKey.key(String(parts[0]))
        self.comparison = comparison
        operand = try Self.operand(value, for: comparison, values)
    }

    private static func trimmed(_ text: Substring) -> String {
        var text = text.drop { $0 == " " }
        while text.last == " " { text.removeLast() }
        return String(text)
    }

    private static func operand(
        _ text: String, for comparison: Operator, _ values: CKToolValueReader
    ) throws(InputMistake) -> Operand {
        switch comparison {
        case .near: return try place(text)
        case .containsAllTokens, .containsAnyTokens: return .words(CKToolValueReader.plain(text))
        case .listContainsAny, .listNotContainsAny: return .list(try values.list(text))
        default: return .value(try values.value(text))
        }
    }

    private static func place(_ text: String) throws(InputMistake) -> Operand {
        let parts = CKToolValueReader.parts(of: CKToolValueReader.plain(text))
        let metres = parts.count == 3 ? Double(parts[2]).flatMap { $0 >= 0 && $0.isFinite ? $0 : nil } : nil
        guard parts.count == 2 || metres != nil,
            let place = CKToolValueReader.location(parts.prefix(2).joined(separator: ","))
        else {
            throw InputMistake("NEAR takes LATITUDE,LONGITUDE or LATITUDE,LONGITUDE,METRES, not \"\(text)\".")
        }
        return .place(place, metres: metres)
    }

    // MARK: For the store

    /// Users whom it names by their record names.
    var userNames: [String] {
        guard case .system(let system) = key, system.kind == .user, case .value(let value) = operand else { return [] }
        return Self.name(value).map { [$0] } ?? []
    }

    /// Whether what it means depends on the type of its field: a whole number may be a date.
    var needsFieldType: Bool {
        guard case .field = key else { return false }
        switch operand {
        case .value(let value): return value.type == .int64
        case .list(let list): return list.contains { $0.type == .int64 }
        default: return false
        }
    }

    /// - Parameters:
    ///   - users: by their record names.
    ///   - type: what the schema says of the records; nil if it does not know them, or is not needed.
    /// - Throws: ``InputMistake`` for a value that nothing can be compared with so.
    func predicate(
        users: [String: UserID], type: RecordTypeSchema? = nil
    ) throws(InputMistake) -> QueryPredicate {
        switch operand {
        case .value(let value): return .compare(key, queryComparison, try queryValue(value, users, type))
        case .list(let list):
            var values: [QueryValue] = []
            for value in list { values.append(try queryValue(value, users, type)) }
            let predicate = QueryPredicate.containsAny(key, values)
            return comparison == .listContainsAny ? predicate : .not(predicate)
        case .words(let text): return comparison == .containsAllTokens ? .search(text) : .isPresent(key, true)
        case .place(let place, let metres):
            return .isNear(
                key, QueryLocation(latitude: place.latitude, longitude: place.longitude),
                metres: metres ?? Self.everywhereMetres, isInclusive: true)
        }
    }

    /// The nearest first, where no distance bounds the places.
    var sort: QuerySort? {
        guard case .place(let place, nil) = operand else { return nil }
        return QuerySort(key, origin: QueryLocation(latitude: place.latitude, longitude: place.longitude))
    }

    /// More than half of the Earth's circumference.
    private static let everywhereMetres = 30_000_000.0

    private var queryComparison: QueryComparison {
        switch comparison {
        case .notEquals: .notEqual
        case .lessThan: .less
        case .lessThanOrEquals: .lessOrEqual
        case .greaterThan: .greater
        case .greaterThanOrEquals: .greaterOrEqual
        default: .equal
        }
    }

    private func holdsDates(_ type: RecordTypeSchema?) -> Bool {
        switch key {
        case .field(let name): type?.fields[name]?.type.element == .date
        case .system(let system): system.kind == .date
        }
    }

    private func queryValue(
        _ value: FieldValue, _ users: [String: UserID], _ type: RecordTypeSchema?
    ) throws(InputMistake) -> QueryValue {
        if case .system(let system) = key, let name = Self.name(value) {
            if system.kind == .user { return .user(users[name]) }
            if system.kind == .reference { return .reference(QueryReference(recordName: name)) }
        }
        switch value {
        case .string(let text): return .string(text)
        case .int64(let number): return holdsDates(type) ? .date(milliseconds: number) : .int64(number)
        case .double(let number): return .double(number)
        case .date(let date): return .date(milliseconds: date.milliseconds)
        case .reference(let reference): return .reference(QueryReference(recordName: reference.recordName))
        default:
            throw InputMistake(
                "\(comparison.sign ?? comparison.rawValue) compares with a string, number, date or reference. Places have "
                    + "NEAR, and lists have LIST_CONTAINS_ANY.")
        }
    }

    /// A record's name.
    private static func name(_ value: FieldValue) -> String? {
        switch value {
        case .string(let text): text
        case .int64(let number): "\(number)"
        case .reference(let reference): reference.recordName
        default: nil
        }
    }

    // MARK: For a record

    /// Whether a record that the store found meets the condition. The store searches all fields of a record at once, and this
    /// filter only one.
    func keeps(_ record: RecordState) -> Bool {
        guard case .words(let text) = operand, case .field(let name) = key else { return true }
        let wanted = IndexWords.of([text])
        let found = Set(IndexWords.of(Self.strings(of: record, name)))
        guard !wanted.isEmpty else { return false }
        return comparison == .containsAllTokens
            ? wanted.allSatisfy(found.contains) : wanted.contains(where: found.contains)
    }

    private static func strings(of record: RecordState, _ key: String) -> [String] {
        guard let entry = record.fields[key], !entry.isEncrypted, let value = try? entry.value() else { return [] }
        switch value {
        case .string(let text): return [text]
        case .strings(let list): return list
        default: return []
        }
    }
}

/// The order of `--sort-by`: `FIELD`, `FIELD ASC` or `FIELD DESC`.
enum CKToolSort {
    static func sort(parsing text: String) throws(InputMistake) -> QuerySort {
        let parts = text.split(separator: " ").map(String.init)
        let direction = parts.count == 2 ? parts[1].uppercased() : "ASC"
        guard (1...2).contains(parts.count), ["ASC", "DESC"].contains(direction) else {
            throw InputMistake("An order is \"FIELD\", \"FIELD ASC\" or \"FIELD DESC\", not \"\(text)\".")
        }
        return QuerySort(CKToolKey.key(parts[0]), isAscending: direction == "ASC")
    }
}

/// Names of fields. Those of the system also have their names of the schema language.
enum CKToolKey {
    static func key(_ name: String) -> QueryKey {
        if let system = SystemField(rawValue: name).flatMap(QuerySystemKey.init(of:)) { return .system(system) }
        return name == "recordName" ? .system(.recordID) : QueryKey(named: name)
    }
}

extension QuerySystemKey {
    /// Nil for the tag, which no query may name.
    fileprivate init?(of field: SystemField) {
        switch field {
        case .creationDate: self = .creationDate
        case .creator: self = .creatorUserRecordID
        case .modificationDate: self = .modificationDate
        case .lastModifier: self = .lastModifiedUserRecordID
        case .parent: self = .parent
        case .recordID: self = .recordID
        case .share: self = .share
        case .tag: return nil
        }
    }
}
