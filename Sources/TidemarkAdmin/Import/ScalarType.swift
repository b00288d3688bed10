// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TidemarkBytes
internal import TidemarkFields

/// The types that a rule can give a column, with their names in rules.
enum ScalarType: String, CaseIterable {
    case string, int64, double, date, bool, bytes

    /// One value of this type.
    ///
    /// - Throws: ``InputMistake``, with a text that says what is expected.
    func value(_ input: InputValue, column: String) throws(InputMistake) -> FieldValue {
        guard let value = convert(input) else {
            throw InputMistake("The column \(column) is \(input.description), which is not \(expectation).")
        }
        return value
    }

    private func convert(_ input: InputValue) -> FieldValue? {
        switch self {
        case .string: Self.string(input).map { .string($0) }
        case .int64: Self.integer(input).map { .int64($0) }
        case .double: Self.double(input).map { .double($0) }
        case .date: Self.date(input).map { .date($0) }
        case .bool: Self.truth(input).map { .int64($0 ? 1 : 0) }
        case .bytes: if case .text(let text) = input { Base64.decode(text).map { .bytes($0) } } else { nil }
        }
    }

    private var expectation: String {
        switch self {
        case .string: "a string"
        case .int64: "a whole number"
        case .double: "a number"
        case .date: "a date (2024-05-31, 2024-05-31T12:00:00Z, or seconds since 1970)"
        case .bool: "true or false"
        case .bytes: "Base64"
        }
    }

    static func string(_ input: InputValue) -> String? {
        switch input {
        case .text(let text): text
        case .integer(let number): "\(number)"
        case .number(let number): "\(number)"
        case .truth(let truth): "\(truth)"
        case .list, .object: nil
        }
    }

    private static func integer(_ input: InputValue) -> Int64? {
        switch input {
        case .text(let text): Int64(text.trimmingCharacters(in: .whitespaces))
        case .integer(let number): number
        case .number(let number): Int64(exactly: number)
        case .truth, .list, .object: nil
        }
    }

    static func double(_ input: InputValue) -> Double? {
        switch input {
        case .text(let text): Double(text.trimmingCharacters(in: .whitespaces))
        case .integer(let number): Double(number)
        case .number(let number): number
        case .truth, .list, .object: nil
        }
    }

    private static func truth(_ input: InputValue) -> Bool? {
        switch input {
        case .truth(let truth): truth
        case .integer(0): false
        case .integer(1): true
        case .text(let text):
            switch text.trimmingCharacters(in: .whitespaces).lowercased() {
            case "true", "yes", "1": true
            case "false", "no", "0": false
            default: nil
            }
        default: nil
        }
    }

    private static func date(_ input: InputValue) -> FieldDate? {
        if let seconds = double(input) {
            return FieldDate(secondsSince2001: Date(timeIntervalSince1970: seconds).timeIntervalSinceReferenceDate)
        }
        guard case .text(let text) = input else { return nil }
        return DateText.date(text.trimmingCharacters(in: .whitespaces))
    }
}
