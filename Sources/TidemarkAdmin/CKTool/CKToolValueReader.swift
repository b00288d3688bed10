// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TidemarkBytes
internal import TidemarkFields

/// Reads the values of filters: `TYPE:VALUE`, a text in quotation marks, or a value whose type is guessed.
struct CKToolValueReader: Sendable {
    /// The zone of dates that name none.
    let timeZone: TimeZone

    /// - Throws: ``InputMistake`` for a value that does not fit its type.
    func value(_ text: String) throws(InputMistake) -> FieldValue {
        guard let (type, rest) = Self.typed(text) else { return guess(text) }
        let parts = type.isList ? Self.parts(of: rest) : [rest]
        var values: [FieldValue] = []
        for part in parts {
            guard let value = scalar(part, type.element) else {
                throw InputMistake("\(rest) is not a value of the type \(type.name).")
            }
            values.append(value)
        }
        return type.isList ? FieldValue(lineElements: values) : values[0]
    }

    /// The values of a list: as ``value(_:)``, but commas separate elements whose types are guessed.
    func list(_ text: String) throws(InputMistake) -> [FieldValue] {
        if Self.typed(text) != nil {
            let value = try value(text)
            return value.type.isList ? value.lineElements : [value]
        }
        return Self.unquoted(text).map { [.string($0)] } ?? Self.parts(of: text).map(guess)
    }

    /// The text without its type and its quotation marks.
    static func plain(_ text: String) -> String {
        let rest = typed(text).map(\.rest) ?? text
        return unquoted(rest) ?? rest
    }

    // MARK: Guessing

    /// A number, a place, a date, or else a string.
    func guess(_ text: String) -> FieldValue {
        if let text = Self.unquoted(text) { return .string(text) }
        if Self.isNumeric(text) {
            if let number = Int64(text) { return .int64(number) }
            if let number = Double(text), number.isFinite { return .double(number) }
        }
        if let place = Self.location(text) { return .location(place) }
        if let date = CKToolDate.date(text, in: timeZone) { return .date(date) }
        return .string(text)
    }

    /// Words such as `infinity` are numbers for Swift, and texts for people.
    private static func isNumeric(_ text: String) -> Bool {
        text.contains { $0.isASCII && $0.isNumber } && text.allSatisfy { "0123456789+-.eE".contains($0) }
    }

    /// Degrees, separated by a comma.
    static func location(_ text: String) -> FieldLocation? {
        let parts = parts(of: text)
        guard parts.count == 2, parts.allSatisfy(isNumeric), let latitude = Double(parts[0]),
            let longitude = Double(parts[1])
        else { return nil }
        return FieldLocation(latitude: latitude, longitude: longitude)
    }

    // MARK: Types

    private static func typed(_ text: String) -> (type: CKToolType, rest: String)? {
        guard let colon = text.firstIndex(of: ":"), let type = CKToolType(name: String(text[..<colon])) else {
            return nil
        }
        return (type, String(text[text.index(after: colon)...]))
    }

    private func scalar(_ text: String, _ element: CKToolType.Element) -> FieldValue? {
        switch element {
        case .string: .string(Self.unquoted(text) ?? text)
        case .int64: Int64(text).map { .int64($0) }
        case .double: Self.isNumeric(text) ? Double(text).map { .double($0) } : nil
        case .timestamp: CKToolDate.date(text, in: timeZone).map { .date($0) }
        case .location: Self.location(text).map { .location($0) }
        case .bytes: Base64.decode(text).map { .bytes($0) }
        case .reference: .reference(FieldReference(recordName: Self.unquoted(text) ?? text))
        case .asset: nil
        }
    }

    // MARK: Texts

    /// What commas separate, without the spaces around it.
    static func parts(of text: String) -> [String] {
        text.split(separator: ",", omittingEmptySubsequences: false).map { part in
            var part = part
            while part.first == " " { part.removeFirst() }
            while part.last == " " { part.removeLast() }
            return String(part)
        }
    }

    /// A text between quotation marks, in which `\"` and `\\` stand for one character. Nil for any other text.
    static func unquoted(_ text: String) -> String? {
        guard text.count >= 2, text.first == "\"", text.last == "\"" else { return nil }
        var (result, isEscaped) = ("", false)
        for character in text.dropFirst().dropLast() {
            if isEscaped {
                if character != "\"", character != "\\" { result.append("\\") }
                result.append(character)
                isEscaped = false
            } else if character == "\\" {
                isEscaped = true
            } else if character == "\"" {
                // The text ends before its end.
                return nil
            } else {
                result.append(character)
            }
        }
        return isEscaped ? nil : result
    }
}

extension FieldLocation {
    /// A place of which nothing else is known. Nil if there is no such place.
    init?(latitude: Double, longitude: Double) {
        guard latitude.magnitude <= 90, longitude.magnitude <= 180 else { return nil }
        self.init(
            latitude: latitude, longitude: longitude, altitude: 0, horizontalAccuracy: 0, verticalAccuracy: -1,
            course: -1, speed: -1, timestampMilliseconds: 0)
    }
}
