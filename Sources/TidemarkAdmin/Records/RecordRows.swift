// SPDX-License-Identifier: Apache-2.0

internal import TidemarkBytes
package import TidemarkDomain
internal import TidemarkFields

/// Records as rows, for people and programs.
package enum RecordRows {
    /// Whole records, for programs: names and dates, and the fields as an object. Encrypted fields are
    /// `{"encrypted":true}`, because only the user's devices can read them.
    ///
    /// - Parameter keys: of the fields; nil for all.
    package static func whole(_ keys: [String]? = nil) -> [Column<QueryMatch>] {
        [
            Column("RECORD", key: "recordName", isName: true) { .text($0.record.name) },
            Column("TYPE", key: "recordType") { .text($0.record.type) },
            Column("ZONE", key: "zone") { .text($0.zoneName) },
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
                guard !entry.isEncrypted else { return (entry.key, .object([("encrypted", .flag(true))])) }
                guard let value = try? entry.value() else { return (entry.key, .object([("unreadable", .flag(true))])) }
                return (entry.key, output(value))
            }
    }

    private static func output(_ value: FieldValue) -> OutputValue {
        switch value {
        case .string(let text): return .text(text)
        case .int64(let number): return .number(Int(number))
        case .double(let number): return .decimal(number)
        case .date(let date): return .text(DateText.text(date))
        case .bytes(let bytes): return .text(Base64.encode(bytes))
        case .reference(let reference):
            let action: [(String, OutputValue)] =
                reference.action == .deleteSelf ? [("action", .text("deleteSelf"))] : []
            return .object([("reference", .text(reference.recordName))] + action)
        case .asset(let asset): return .object([("bytes", .number(Int(asset.byteCount)))])
        case .location(let location):
            return .object([
                ("latitude", .decimal(location.latitude)), ("longitude", .decimal(location.longitude)),
                ("altitude", .decimal(location.altitude)),
            ])
        case .removed: return .none
        default: return .list(value.lineElements.map(output))
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
