// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TidemarkBytes
internal import TidemarkDomain
internal import TidemarkFields

/// A record as a line of JSON, from which the same record can be made again: each field has its type.
///
///     {"recordName":"a","recordType":"Note","zone":"Notes","fields":{"n":{"type":"int64","value":7}}}
struct RecordLine: Codable, Equatable {
    let recordName: String
    let recordType: String
    var zone: String?
    /// The name of its parent.
    var parent: String?
    /// Only shown: a record that is saved has the dates of the save.
    var created: String?
    var modified: String?
    var fields: [String: RecordLineField]

    init(_ record: RecordState, zone: String?) throws(FieldError) {
        recordName = record.name
        recordType = record.type
        self.zone = zone
        parent = record.parent
        created = DateText.text(FieldDate(milliseconds: record.createdAt.milliseconds))
        modified = DateText.text(FieldDate(milliseconds: record.modifiedAt.milliseconds))
        fields = [:]
        for entry in record.fields { fields[entry.key] = try RecordLineField(entry) }
    }

    init(recordName: String, recordType: String, parent: String?, fields: [String: RecordLineField]) {
        self.recordName = recordName
        self.recordType = recordType
        self.parent = parent
        self.fields = fields
    }

    /// - Throws: ``InputMistake`` if it is no such line.
    init(parsing line: [UInt8]) throws(InputMistake) {
        do {
            self = try JSONDecoder().decode(RecordLine.self, from: Data(line))
        } catch {
            throw InputMistake("This line is no record as `records export` writes it.")
        }
    }

    /// One line, without its end.
    var text: String {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            return String(decoding: try encoder.encode(self), as: UTF8.self).harmlessJSON
        }
    }

    /// - Parameter zoneKeys: the ids of the keys that the zone has. An encrypted value whose key is not among them is left out:
    ///   no device could read it there.
    func fieldMap(zoneKeys: Set<[UInt8]> = []) throws(InputMistake) -> FieldMap {
        var list: [Field] = []
        for (key, line) in fields where !line.isEncrypted || line.isReadable(with: zoneKeys) {
            guard let value = line.value else { throw InputMistake("The field \(key) has no value of its type.") }
            list.append(Field(key, value, isEncrypted: line.isEncrypted))
        }
        do {
            return try FieldMap(list, keys: Share.isType(recordType) ? .share : .app)
        } catch {
            throw InputMistake("The fields are not valid: \(error.code.rawValue).")
        }
    }

    var encryptedCount: Int { fields.values.count(where: \.isEncrypted) }

    /// How many values ``fieldMap(zoneKeys:)`` leaves out.
    func unreadableCount(with zoneKeys: Set<[UInt8]>) -> Int {
        fields.values.count { $0.isEncrypted && !$0.isReadable(with: zoneKeys) }
    }
}

extension String {
    /// A line of JSON in which what could control a terminal is written as escapes. It can only be in strings.
    var harmlessJSON: String {
        guard unicodeScalars.contains(where: \.controlsTerminals) else { return self }
        var text = String.UnicodeScalarView()
        for scalar in unicodeScalars {
            if scalar.controlsTerminals {
                text.append(contentsOf: String(format: "\\u%04x", scalar.value).unicodeScalars)
            } else {
                text.append(scalar)
            }
        }
        return String(text)
    }
}

/// A field with its type, as JSON.
struct RecordLineField: Codable, Equatable {
    /// `int64`, `list<date>` and so on; `list` is an empty list, and `encrypted` what only devices can read.
    let type: String
    /// Nil: the value is not here.
    let content: Content?

    static let encryptedType = "encrypted"

    private enum CodingKeys: String, CodingKey {
        case type
        case content = "value"
    }

    init(type: String, content: Content?) {
        self.type = type
        self.content = content
    }

    init(_ value: FieldValue) {
        self.init(
            type: Self.name(of: value.type),
            content: value.type.isList ? .list(value.lineElements.compactMap(Content.init)) : Content(value))
    }

    /// An encrypted value stays as it is: its ciphertext in Base64.
    init(_ entry: FieldMap.Entry) throws(FieldError) {
        let value = try entry.value()
        if entry.isEncrypted {
            self.init(type: Self.encryptedType, content: Content(value))
        } else {
            self.init(value)
        }
    }

    var isEncrypted: Bool { type == Self.encryptedType }

    /// Whether an encrypted value is here, and its key is one of these.
    func isReadable(with zoneKeys: Set<[UInt8]>) -> Bool {
        guard case .bytes(let bytes)? = value, let sealed = SealedValue(bytes) else { return false }
        return zoneKeys.contains(sealed.keyID)
    }

    static func name(of type: FieldType) -> String { names.first { $0.type == type }?.name ?? "list" }

    /// Whether values can have a type of this name.
    static func isType(_ name: String) -> Bool { name == encryptedType || names.contains { $0.name == name } }

    /// Nil if it is no value of the type.
    var value: FieldValue? {
        if isEncrypted { return content?.value(.bytes) }
        guard let type = Self.names.first(where: { $0.name == type })?.type else { return nil }
        guard type.isList else { return content?.value(type) }
        guard case .list(let parts)? = content else { return nil }
        guard let element = type.element else { return parts.isEmpty ? .emptyList : nil }
        let values = parts.compactMap { $0.value(element) }
        return values.count == parts.count ? FieldValue(lineElements: values) : nil
    }

    private static let names: [(type: FieldType, name: String)] = {
        let scalars: [(FieldType, String)] = [
            (.string, "string"), (.int64, "int64"), (.double, "double"), (.date, "date"), (.bytes, "bytes"),
            (.reference, "reference"), (.asset, "asset"), (.location, "location"),
        ]
        let lists = FieldType.allCases.compactMap { type in
            type.element.flatMap { element in scalars.first { $0.0 == element } }.map { (type, "list<\($0.1)>") }
        }
        return (scalars + lists + [(.emptyList, "list")]).map { (type: $0.0, name: $0.1) }
    }()

    /// What stands in JSON.
    indirect enum Content: Codable, Equatable {
        case text(String)
        case integer(Int64)
        case number(Double)
        case place(Place)
        case link(Link)
        case file(File)
        case list([Content])

        struct Place: Codable, Equatable {
            let latitude, longitude, altitude, horizontalAccuracy, verticalAccuracy, course, speed: ExactNumber
            let secondsSince2001: Double
        }

        struct Link: Codable, Equatable {
            let recordName: String
            let deleteSelf: Bool
        }

        struct File: Codable, Equatable {
            let sha256: String
            let bytes: Int64
        }

        /// Nil for lists.
        init?(_ value: FieldValue) {
            switch value {
            case .string(let text): self = .text(text)
            case .int64(let number): self = .integer(number)
            case .double(let number): self = Self.double(number)
            case .date(let date):
                let text = DateText.text(date)
                self = DateText.date(text) == date ? .text(text) : .number(date.secondsSince2001)
            case .bytes(let bytes): self = .text(Base64.encode(bytes))
            case .reference(let link):
                self = .link(Link(recordName: link.recordName, deleteSelf: link.action == .deleteSelf))
            case .asset(let asset): self = .file(File(sha256: Hex.encode(asset.sha256), bytes: asset.byteCount))
            case .location(let place):
                self = .place(
                    Place(
                        latitude: ExactNumber(place.latitude), longitude: ExactNumber(place.longitude),
                        altitude: ExactNumber(place.altitude),
                        horizontalAccuracy: ExactNumber(place.horizontalAccuracy),
                        verticalAccuracy: ExactNumber(place.verticalAccuracy), course: ExactNumber(place.course),
                        speed: ExactNumber(place.speed), secondsSince2001: place.timestamp.secondsSince2001))
            default: return nil
            }
        }

        private static func double(_ number: Double) -> Content {
            ExactNumber(number).text.map { .text($0) } ?? .number(number)
        }

        /// Nil if it is no value of this type.
        func value(_ type: FieldType) -> FieldValue? {
            switch (type, self) {
            case (.string, .text(let text)): .string(text)
            case (.int64, .integer(let number)): .int64(number)
            case (.double, .number(let number)): .double(number)
            case (.double, .integer(let number)): .double(Double(number))
            case (.double, .text(let text)): ExactNumber(text: text).map { .double($0.value) }
            case (.date, .text(let text)): DateText.date(text).map { .date($0) }
            case (.date, .number(let seconds)): FieldDate(secondsSince2001: seconds).map { .date($0) }
            case (.date, .integer(let seconds)): FieldDate(secondsSince2001: Double(seconds)).map { .date($0) }
            case (.bytes, .text(let text)): Base64.decode(text).map { .bytes($0) }
            case (.reference, .link(let link)):
                .reference(FieldReference(recordName: link.recordName, action: link.deleteSelf ? .deleteSelf : .none))
            case (.asset, .file(let file)): Self.asset(file)
            case (.location, .place(let place)): Self.location(place)
            default: nil
            }
        }

        private static func asset(_ file: File) -> FieldValue? {
            guard let hash = Hex.decode(file.sha256), hash.count == FieldAsset.sha256ByteCount, file.bytes >= 0 else {
                return nil
            }
            return .asset(FieldAsset(sha256: hash, byteCount: file.bytes))
        }

        private static func location(_ place: Place) -> FieldValue? {
            FieldDate(secondsSince2001: place.secondsSince2001).map { timestamp in
                .location(
                    FieldLocation(
                        latitude: place.latitude.value, longitude: place.longitude.value,
                        altitude: place.altitude.value, horizontalAccuracy: place.horizontalAccuracy.value,
                        verticalAccuracy: place.verticalAccuracy.value, course: place.course.value,
                        speed: place.speed.value, timestamp: timestamp))
            }
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let number = try? container.decode(Int64.self) {
                self = .integer(number)
            } else if let text = try? container.decode(String.self) {
                self = .text(text)
            } else if let number = try? container.decode(Double.self) {
                self = .number(number)
            } else if let parts = try? container.decode([Content].self) {
                self = .list(parts)
            } else if let link = try? container.decode(Link.self) {
                self = .link(link)
            } else if let file = try? container.decode(File.self) {
                self = .file(file)
            } else {
                self = .place(try container.decode(Place.self))
            }
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .text(let text): try container.encode(text)
            case .integer(let number): try container.encode(number)
            case .number(let number): try container.encode(number)
            case .place(let place): try container.encode(place)
            case .link(let link): try container.encode(link)
            case .file(let file): try container.encode(file)
            case .list(let parts): try container.encode(parts)
            }
        }
    }
}

extension FieldValue {
    /// The elements of a list; none for any other value.
    var lineElements: [FieldValue] {
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

    /// A list of values of one type.
    init(lineElements values: [FieldValue]) {
        switch values.first {
        case .reference:
            self = .references(values.compactMap { if case .reference(let value) = $0 { value } else { nil } })
        case .asset: self = .assets(values.compactMap { if case .asset(let value) = $0 { value } else { nil } })
        case .location:
            self = .locations(values.compactMap { if case .location(let value) = $0 { value } else { nil } })
        default: self.init(list: values)
        }
    }
}
