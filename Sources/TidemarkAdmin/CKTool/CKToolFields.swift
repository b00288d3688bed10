// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TidemarkBytes
internal import TidemarkDomain
internal import TidemarkFields

/// The fields of a record in JSON: `{"title": {"type": "stringType", "value": "Kim"}}`.
struct CKToolFields: Equatable, Sendable {
    /// A field. Nothing is stored for one whose value is null.
    struct Entry: Equatable, Sendable {
        let key: String
        let type: CKToolType
        let value: CKToolJSON
    }

    /// By key.
    let entries: [Entry]
    /// The keys of empty lists that declare no type of elements.
    private let untypedLists: [String]

    /// - Throws: ``InputMistake`` for any other JSON.
    init(parsing text: String) throws(InputMistake) {
        guard let json = try? JSONDecoder().decode(CKToolJSON.self, from: Data(text.utf8)),
            case .object(let fields) = json
        else {
            throw InputMistake("The fields are no JSON object: {\"KEY\": {\"type\": \"stringType\", \"value\": …}}")
        }
        var (entries, untypedLists) = ([Entry](), [String]())
        for (key, field) in fields.sorted(by: { $0.key < $1.key }) {
            guard case .object(let parts) = field, case .text(let name)? = parts["type"] else {
                throw InputMistake("The field \(key) is not {\"type\": …, \"value\": …}.")
            }
            let value = parts["value"] ?? .null
            if name == CKToolType.emptyListName {
                // As an empty list is written of which nothing is known.
                guard value == .list([]) else { throw InputMistake("The field \(key) (\(name)) is no empty list.") }
                untypedLists.append(key)
                continue
            }
            guard let type = CKToolType(name: name) else {
                throw InputMistake("The field \(key) has the unknown type \(name). Types: \(CKToolType.names).")
            }
            if value != .null { entries.append(Entry(key: key, type: type, value: value)) }
        }
        self.entries = entries
        self.untypedLists = untypedLists
    }

    /// The declared types of empty lists. The stored list does not have them.
    var emptyLists: [String: SchemaFieldType] {
        let lists = entries.filter { $0.type.isList && $0.value == .list([]) }
        return Dictionary(uniqueKeysWithValues: lists.map { ($0.key, $0.type.schemaType) })
    }

    /// The keys of the files that assets name, each once.
    var fileKeys: [String] {
        var keys: [String] = []
        for entry in entries where entry.type.element == .asset {
            let parts: [CKToolJSON] = if case .list(let list) = entry.value { list } else { [entry.value] }
            for case .text(let key) in parts where !keys.contains(key) { keys.append(key) }
        }
        return keys
    }

    /// - Parameter files: the assets by the keys of their files.
    /// - Throws: ``InputMistake`` for a value that does not fit its type.
    func fieldMap(files: [String: FieldAsset], in timeZone: TimeZone) throws(InputMistake) -> FieldMap {
        let reader = Reader(files: files, timeZone: timeZone)
        var fields: [Field] = []
        for entry in entries { fields.append(Field(entry.key, try reader.value(of: entry))) }
        for key in untypedLists { fields.append(Field(key, .emptyList)) }
        do {
            return try FieldMap(fields)
        } catch {
            throw InputMistake("The fields are not valid: \(error.code.rawValue).")
        }
    }

    private struct Reader {
        let files: [String: FieldAsset]
        let timeZone: TimeZone

        func value(of entry: Entry) throws(InputMistake) -> FieldValue {
            guard entry.type.isList else { return try scalar(entry.value, entry) }
            guard case .list(let parts) = entry.value else { throw Self.mistake(entry, "is no list") }
            var values: [FieldValue] = []
            for part in parts { values.append(try scalar(part, entry)) }
            return FieldValue(lineElements: values)
        }

        private func scalar(_ json: CKToolJSON, _ entry: Entry) throws(InputMistake) -> FieldValue {
            if entry.type.element == .asset { return .asset(try asset(json, entry)) }
            guard let value = value(json, entry.type.element) else {
                throw Self.mistake(entry, "has a value that is none of its type")
            }
            return value
        }

        private func asset(_ json: CKToolJSON, _ entry: Entry) throws(InputMistake) -> FieldAsset {
            guard case .text(let key) = json else { throw Self.mistake(entry, "names no file") }
            guard let asset = files[key] else {
                throw Self.mistake(entry, "names the file \(key), which --asset-files does not have")
            }
            return asset
        }

        private static func mistake(_ entry: Entry, _ text: String) -> InputMistake {
            InputMistake("The field \(entry.key) (\(entry.type.name)) \(text).")
        }

        private func value(_ json: CKToolJSON, _ element: CKToolType.Element) -> FieldValue? {
            switch (element, json) {
            case (.string, .text(let text)): .string(text)
            case (.int64, .integer(let number)): .int64(number)
            case (.int64, .number(let number)): Int64(exactly: number).map { .int64($0) }
            case (.double, .integer(let number)): .double(Double(number))
            case (.double, .number(let number)): .double(number)
            case (.timestamp, .text(let text)): CKToolDate.date(text, in: timeZone).map { .date($0) }
            case (.bytes, .text(let text)): Base64.decode(text).map { .bytes($0) }
            case (.location, .object(let parts)): location(parts).map { .location($0) }
            case (.reference, .object(let parts)): reference(parts).map { .reference($0) }
            default: nil
            }
        }

        private func location(_ parts: [String: CKToolJSON]) -> FieldLocation? {
            guard let latitude = parts["latitude"]?.double, let longitude = parts["longitude"]?.double,
                var place = FieldLocation(latitude: latitude, longitude: longitude)
            else { return nil }
            if let altitude = parts["altitude"]?.double { (place.altitude, place.verticalAccuracy) = (altitude, 0) }
            if let accuracy = parts["horizontalAccuracy"]?.double { place.horizontalAccuracy = accuracy }
            if let accuracy = parts["verticalAccuracy"]?.double { place.verticalAccuracy = accuracy }
            if let course = parts["course"]?.double { place.course = course }
            if let speed = parts["speed"]?.double { place.speed = speed }
            if case .text(let text)? = parts["timestamp"], let date = CKToolDate.date(text, in: timeZone) {
                place.timestamp = date
            }
            return place
        }

        private func reference(_ parts: [String: CKToolJSON]) -> FieldReference? {
            guard case .text(let name)? = parts["recordName"] else { return nil }
            guard case .text(let action)? = parts["action"] else { return FieldReference(recordName: name) }
            switch action.uppercased() {
            case "NONE", "VALIDATE": return FieldReference(recordName: name)
            case "DELETE_SELF": return FieldReference(recordName: name, action: .deleteSelf)
            default: return nil
            }
        }
    }
}

/// Any JSON.
enum CKToolJSON: Decodable, Equatable, Sendable {
    case null
    case truth(Bool)
    case integer(Int64)
    case number(Double)
    case text(String)
    case list([CKToolJSON])
    case object([String: CKToolJSON])

    /// Nil for what is no number.
    var double: Double? {
        switch self {
        case .integer(let number): Double(number)
        case .number(let number): number
        default: nil
        }
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let truth = try? container.decode(Bool.self) {
            self = .truth(truth)
        } else if let number = try? container.decode(Int64.self) {
            self = .integer(number)
        } else if let number = try? container.decode(Double.self) {
            self = .number(number)
        } else if let text = try? container.decode(String.self) {
            self = .text(text)
        } else if let list = try? container.decode([CKToolJSON].self) {
            self = .list(list)
        } else {
            self = .object(try container.decode([String: CKToolJSON].self))
        }
    }
}
