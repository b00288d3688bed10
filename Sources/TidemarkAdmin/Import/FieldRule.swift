// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TidemarkFields

/// How a field is made from columns: `KEY TYPE [COLUMN…] [option]`.
///
///     elevation double
///     opened date "opening day"
///     tags list<string> tags separator=;
///     location location lat lon elevation*0.3048
///     country reference country deleteSelf
struct FieldRule: Equatable {
    enum Source: Equatable {
        case scalar(ScalarType, column: String)
        /// The cell of a CSV is split at the separator. A JSON list is a list already.
        case list(ScalarType, column: String, separator: String)
        case location(latitude: String, longitude: String, altitude: Altitude?)
        case reference(column: String, FieldReference.Action)
    }

    /// A column, and the factor that converts its numbers to metres.
    struct Altitude: Equatable {
        let column: String
        let factor: Double
    }

    let key: String
    let source: Source

    /// - Throws: ``AdminFailure``, with a text that shows the form of a rule.
    init(_ words: [String]) throws(AdminFailure) {
        guard words.count >= 2 else { throw Self.mistake(words, "KEY TYPE [COLUMN]") }
        key = words[0]
        guard FieldKeyRule.app.allows(key) else {
            throw AdminFailure(
                .usage, "\(key) cannot be a field's name. Use a letter, then letters, digits and underscores.")
        }
        let (type, rest) = (words[1], Array(words.dropFirst(2)))
        if let scalar = ScalarType(rawValue: type) {
            guard rest.count <= 1 else { throw Self.mistake(words, "KEY \(type) [COLUMN]") }
            source = .scalar(scalar, column: rest.first ?? key)
        } else if let element = Self.element(type) {
            source = try Self.list(words, key, element, rest)
        } else if type == "location" {
            source = try Self.location(words, rest)
        } else if type == "reference" {
            let deletes = rest.last == "deleteSelf"
            let columns = deletes ? Array(rest.dropLast()) : rest
            guard columns.count <= 1 else { throw Self.mistake(words, "KEY reference [COLUMN] [deleteSelf]") }
            source = .reference(column: columns.first ?? key, deletes ? .deleteSelf : .none)
        } else {
            let types = ScalarType.allCases.map(\.rawValue) + ["list<string> (or of another type)", "location"]
            throw AdminFailure(
                .usage,
                "\(type) is not a type. Use \(types.joined(separator: ", ")) or reference. (In: \(words.joined(separator: " ")))"
            )
        }
    }

    /// The columns that the rule reads.
    var columns: [String] {
        switch source {
        case .scalar(_, let column), .list(_, let column, _), .reference(let column, _): [column]
        case .location(let latitude, let longitude, let altitude):
            [latitude, longitude] + (altitude.map { [$0.column] } ?? [])
        }
    }

    private static func element(_ type: String) -> ScalarType? {
        guard type.hasPrefix("list<"), type.hasSuffix(">") else { return nil }
        return ScalarType(rawValue: String(type.dropFirst(5).dropLast()))
    }

    private static func list(
        _ words: [String], _ key: String, _ element: ScalarType, _ rest: [String]
    ) throws(AdminFailure) -> Source {
        let mark = "separator="
        var (separator, rest) = (";", rest)
        if let last = rest.last, last.hasPrefix(mark), last.count > mark.count {
            separator = String(last.dropFirst(mark.count))
            rest.removeLast()
        }
        guard rest.count <= 1 else { throw mistake(words, "KEY list<TYPE> [COLUMN] [separator=TEXT]") }
        return .list(element, column: rest.first ?? key, separator: separator)
    }

    private static func location(_ words: [String], _ rest: [String]) throws(AdminFailure) -> Source {
        guard (2...3).contains(rest.count) else {
            throw mistake(words, "KEY location LATITUDE LONGITUDE [ALTITUDE[*FACTOR]]")
        }
        var altitude: Altitude?
        if rest.count == 3 {
            let parts = rest[2].split(separator: "*", omittingEmptySubsequences: false)
            if parts.count == 2, let factor = Double(parts[1]) {
                altitude = Altitude(column: String(parts[0]), factor: factor)
            } else {
                altitude = Altitude(column: rest[2], factor: 1)
            }
        }
        return .location(latitude: rest[0], longitude: rest[1], altitude: altitude)
    }

    private static func mistake(_ words: [String], _ form: String) -> AdminFailure {
        AdminFailure(.usage, "A field is written as: \(form). (Not: \(words.joined(separator: " ")))")
    }
}

extension FieldRule {
    /// The field's value; nil if the columns have none.
    ///
    /// - Parameter name: makes a record's name from the input's text.
    func value(
        of row: [String: InputValue], name: (String) -> String
    ) throws(InputMistake) -> FieldValue? {
        switch source {
        case .scalar(let type, let column):
            guard let input = row[column] else { return nil }
            return try type.value(input, column: column)
        case .list(let type, let column, let separator):
            guard let input = row[column] else { return nil }
            return try list(input, type, column, separator)
        case .reference(let column, let action):
            guard let input = row[column] else { return nil }
            guard let text = ScalarType.string(input) else {
                throw InputMistake("The column \(column) is \(input.description), which cannot be a record's name.")
            }
            return .reference(FieldReference(recordName: name(text), action: action))
        case .location(let latitude, let longitude, let altitude):
            return try location(of: row, latitude, longitude, altitude)
        }
    }

    private func list(
        _ input: InputValue, _ type: ScalarType, _ column: String, _ separator: String
    ) throws(InputMistake) -> FieldValue {
        let parts: [InputValue]
        switch input {
        case .list(let list): parts = list
        case .text(let text):
            parts = text.split(separator: separator).map { .text($0.trimmingCharacters(in: .whitespaces)) }
        default: parts = [input]
        }
        return FieldValue(list: try parts.map { part throws(InputMistake) in try type.value(part, column: column) })
    }

    private func location(
        of row: [String: InputValue], _ latitude: String, _ longitude: String, _ altitude: Altitude?
    ) throws(InputMistake) -> FieldValue? {
        switch (row[latitude], row[longitude]) {
        case (nil, nil): return nil
        case (nil, _): throw InputMistake("There is a \(longitude) without a \(latitude).")
        case (_, nil): throw InputMistake("There is a \(latitude) without a \(longitude).")
        case (let north?, let east?):
            var metres: Double?
            if let altitude, let up = row[altitude.column] {
                metres = try Self.number(up, altitude.column, within: nil) * altitude.factor
            }
            return .location(
                FieldLocation(
                    latitude: try Self.number(north, latitude, within: 90),
                    longitude: try Self.number(east, longitude, within: 180), altitude: metres ?? 0,
                    horizontalAccuracy: 0, verticalAccuracy: metres == nil ? -1 : 0, course: -1, speed: -1,
                    timestampMilliseconds: 0))
        }
    }

    private static func number(
        _ input: InputValue, _ column: String, within limit: Double?
    ) throws(InputMistake) -> Double {
        guard let number = ScalarType.double(input), number.isFinite, number.magnitude <= limit ?? .infinity else {
            let range = limit.map { " between -\(Int($0)) and \(Int($0))" } ?? ""
            throw InputMistake("The column \(column) is \(input.description), which is not a number\(range).")
        }
        return number
    }
}

extension FieldValue {
    /// A list of scalars of one type; an empty one is `emptyList`.
    init(list values: [FieldValue]) {
        switch values.first {
        case .string: self = .strings(values.compactMap { if case .string(let text) = $0 { text } else { nil } })
        case .int64: self = .int64s(values.compactMap { if case .int64(let number) = $0 { number } else { nil } })
        case .double: self = .doubles(values.compactMap { if case .double(let number) = $0 { number } else { nil } })
        case .date: self = .dates(values.compactMap { if case .date(let date) = $0 { date } else { nil } })
        case .bytes: self = .bytesList(values.compactMap { if case .bytes(let bytes) = $0 { bytes } else { nil } })
        default: self = .emptyList
        }
    }
}
