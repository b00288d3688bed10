// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TidemarkBytes
internal import TidemarkDomain
internal import TidemarkFields

/// A record as text, for people and programs.
struct RecordText {
    let match: QueryMatch
    /// Nil for all fields.
    let keys: [String]?

    /// A JSON object in one line.
    func json() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        let record = match.record
        var fields: [String: FieldText] = [:]
        for entry in record.fields where keys?.contains(entry.key) ?? true {
            fields[entry.key] = entry.isEncrypted ? .encrypted : .value(try entry.value())
        }
        let content = Content(
            recordName: record.name, recordType: record.type, zone: match.zoneName,
            created: Self.date(record.createdAt), modified: Self.date(record.modifiedAt),
            fields: fields)
        return Self.escaped(String(decoding: try encoder.encode(content), as: UTF8.self))
    }

    /// JSON allows control characters beyond ASCII (RFC 8259 §7), which can carry commands to a terminal. They are
    /// written as escapes. In a line of JSON they can only be in strings.
    private static func escaped(_ json: String) -> String {
        func isControl(_ scalar: Unicode.Scalar) -> Bool { scalar.properties.generalCategory == .control }
        guard json.unicodeScalars.contains(where: isControl) else { return json }
        var text = String.UnicodeScalarView()
        for scalar in json.unicodeScalars {
            if isControl(scalar) {
                text.append(contentsOf: String(format: "\\u%04x", scalar.value).unicodeScalars)
            } else {
                text.append(scalar)
            }
        }
        return String(text)
    }

    /// One field as a cell of a table; empty if the record lacks it.
    func cell(_ key: String) -> String {
        guard let entry = match.record.fields[key] else { return "" }
        guard !entry.isEncrypted else { return "(encrypted)" }
        guard let value = try? entry.value() else { return "(unreadable)" }
        let text = Self.text(value).inOneLine
        return text.count > Self.cellCharactersMax ? String(text.prefix(Self.cellCharactersMax)) + "…" : text
    }

    private static let cellCharactersMax = 60

    private static func date(_ timestamp: Timestamp) -> String {
        DateText.text(FieldDate(milliseconds: timestamp.milliseconds))
    }

    private static func text(_ value: FieldValue) -> String {
        switch value {
        case .string(let text): text
        case .int64(let number): "\(number)"
        case .double(let number): "\(number)"
        case .date(let date): DateText.text(date)
        case .bytes(let bytes): "\(bytes.count) bytes"
        case .reference(let reference): reference.recordName
        case .asset(let asset): "asset of \(asset.byteCount) bytes"
        case .location(let location): "\(location.latitude),\(location.longitude)"
        case .removed: ""
        case .emptyList: "[]"
        default: "[" + value.elements.map(text).joined(separator: ", ") + "]"
        }
    }
}

private struct Content: Encodable {
    let recordName: String
    let recordType: String
    let zone: String
    let created: String
    let modified: String
    let fields: [String: FieldText]
}

/// A field's value as JSON.
private enum FieldText: Encodable {
    case value(FieldValue)
    /// Only the user's devices can read it.
    case encrypted

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        guard case .value(let value) = self else { return try container.encode(["encrypted": true]) }
        switch value {
        case .string(let text): try container.encode(text)
        case .int64(let number): try container.encode(number)
        case .double(let number): try container.encode(number)
        case .date(let date): try container.encode(DateText.text(date))
        case .bytes(let bytes): try container.encode(Base64.encode(bytes))
        case .reference(let reference):
            let action = reference.action == .deleteSelf ? ["action": "deleteSelf"] : [:]
            try container.encode(["reference": reference.recordName].merging(action) { $1 })
        case .asset(let asset): try container.encode(["bytes": asset.byteCount])
        case .location(let location):
            try container.encode([
                "latitude": location.latitude, "longitude": location.longitude, "altitude": location.altitude,
            ])
        case .removed: try container.encodeNil()
        default: try container.encode(value.elements.map(FieldText.value))
        }
    }
}

extension FieldValue {
    /// The elements of a list; none for any other value.
    fileprivate var elements: [FieldValue] {
        switch self {
        case .strings(let list): list.map { .string($0) }
        case .int64s(let list): list.map { .int64($0) }
        case .doubles(let list): list.map { .double($0) }
        case .dates(let list): list.map { .date($0) }
        case .bytesList(let list): list.map { .bytes($0) }
        case .references(let list): list.map { .reference($0) }
        case .assets(let list): list.map { .asset($0) }
        case .locations(let list): list.map { .location($0) }
        default: []
        }
    }
}
