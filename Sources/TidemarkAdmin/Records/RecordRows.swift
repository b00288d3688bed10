// SPDX-License-Identifier: Apache-2.0

internal import TidemarkBytes
package import TidemarkDomain
internal import TidemarkFields

/// Records as rows, for people and programs.
package enum RecordRows {
    /// Whole records, for programs: in JSON each is a ``RecordLine``, which can be saved again.
    ///
    /// - Parameter keys: of the fields; nil for all.
    package static func whole(_ keys: [String]? = nil) -> [Column<QueryMatch>] {
        [
            Column("RECORD", key: "recordName", isName: true) { .text($0.record.name) },
            Column("TYPE", key: "recordType") { .text($0.record.type) },
            Column("ZONE", key: "zone") { .text($0.zoneName) },
            Column("PARENT", key: "parent") { .optional($0.record.parent) },
            Column("CREATED", key: "created") { .date($0.record.createdAt) },
            Column("MODIFIED", key: "modified") { .date($0.record.modifiedAt) },
            Column("FIELDS", key: "fields") { .object(fields(of: $0, keys)) },
        ]
    }

    /// Names and some fields, for people.
    package static func cells(_ keys: [String]) -> [Column<QueryMatch>] {
        [Column("RECORD", key: "recordName", isName: true) { .text($0.record.name) }]
            + keys.map { key in Column(key, key: key) { .text(cell(key, of: $0)) } }
    }

    private static func fields(of match: QueryMatch, _ keys: [String]?) -> [(String, OutputValue)] {
        match.record.fields.filter { keys?.contains($0.key) ?? true }.sorted { $0.key < $1.key }
            .map { entry -> (String, OutputValue) in
                guard let field = try? RecordLineField(entry) else {
                    return (entry.key, .object([("unreadable", .flag(true))]))
                }
                return (entry.key, field.output)
            }
    }

    /// One field as a cell of a table; empty if the record lacks it.
    private static func cell(_ key: String, of match: QueryMatch) -> String {
        guard let entry = match.record.fields[key] else { return "" }
        guard !entry.isEncrypted else { return "(encrypted)" }
        guard let value = try? entry.value() else { return "(unreadable)" }
        let text = text(value).inOneLine
        return text.count > cellCharactersMax ? String(text.prefix(cellCharactersMax)) + "…" : text
    }

    private static let cellCharactersMax = 60

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
        default: "[" + value.lineElements.map(text).joined(separator: ", ") + "]"
        }
    }
}

extension RecordLineField {
    /// As it stands in a ``RecordLine``.
    var output: OutputValue { .object([("type", .text(type)), ("value", content?.output ?? OutputValue.none)]) }
}

extension RecordLineField.Content {
    fileprivate var output: OutputValue {
        switch self {
        case .text(let text): .text(text)
        case .integer(let number): .number(Int(number))
        case .number(let number): .decimal(number)
        case .link(let link):
            .object([("recordName", .text(link.recordName)), ("deleteSelf", .flag(link.deleteSelf))])
        case .file(let file): .object([("sha256", .text(file.sha256)), ("bytes", .number(Int(file.bytes)))])
        case .place(let place):
            .object([
                ("latitude", place.latitude.output), ("longitude", place.longitude.output),
                ("altitude", place.altitude.output), ("horizontalAccuracy", place.horizontalAccuracy.output),
                ("verticalAccuracy", place.verticalAccuracy.output), ("course", place.course.output),
                ("speed", place.speed.output), ("secondsSince2001", .decimal(place.secondsSince2001)),
            ])
        case .list(let parts): .list(parts.map(\.output))
        }
    }
}

extension ExactNumber {
    fileprivate var output: OutputValue { text.map { .text($0) } ?? .decimal(value) }
}
