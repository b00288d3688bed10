// SPDX-License-Identifier: Apache-2.0

internal import TidemarkBytes
internal import TidemarkDomain
internal import TidemarkFields

/// A record as `cktool` writes it: names, dates, and each field with its type.
struct CKToolRecord {
    let record: RecordState
    let zone: ZoneID
    let zoneName: String
    let store: StoreIncarnation
    /// Record names of users.
    let userNames: [UserID: String]
    /// The fields of its type, which tell what an empty list is a list of. Nothing if there is no such list.
    var schema: [String: FieldSchema] = [:]

    /// - Parameter keys: of the fields; nil for all.
    func output(_ keys: [String]? = nil) -> OutputValue {
        let tag = ChangeTag.version(store: store, zone: zone, number: record.changeNumber)
        return .object([
            ("recordName", .text(record.name)), ("recordType", .text(record.type)),
            ("recordChangeTag", .text(Base64.encodeURLSafe(tag.bytes))),
            ("created", stamp(record.createdAt, record.createdBy)),
            ("modified", stamp(record.modifiedAt, record.modifiedBy)),
            ("fields", .object(fields(keys))), ("zone", .object([("zoneName", .text(zoneName))])),
            ("parent", record.parent.map { .object([("recordName", .text($0))]) } ?? OutputValue.none),
        ])
    }

    private func stamp(_ date: Timestamp, _ user: UserID) -> OutputValue {
        .object([("timestamp", .date(date)), ("userRecordName", .optional(userNames[user]))])
    }

    private func fields(_ keys: [String]?) -> [(String, OutputValue)] {
        record.fields.filter { keys?.contains($0.key) ?? true }.sorted { $0.key < $1.key }.map { entry in
            guard !entry.isEncrypted, let value = try? entry.value() else {
                // Only the user's devices can read it.
                return (entry.key, .object([("type", .text("encryptedBytesType")), ("value", .none)]))
            }
            let type = CKToolType(of: value.type) ?? schema[entry.key].flatMap { CKToolType(listOf: $0.type) }
            let output: OutputValue =
                value.type.isList ? .list(value.lineElements.map(Self.scalar)) : Self.scalar(value)
            return (entry.key, .object([("type", .text(type?.name ?? CKToolType.emptyListName)), ("value", output)]))
        }
    }

    private static func scalar(_ value: FieldValue) -> OutputValue {
        switch value {
        case .string(let text): .text(text)
        case .int64(let number): .number(Int(number))
        case .double(let number): .decimal(number)
        case .date(let date): .text(DateText.text(date))
        case .bytes(let bytes): .text(Base64.encode(bytes))
        case .reference(let reference):
            .object([
                ("recordName", .text(reference.recordName)),
                ("action", .text(reference.action == .deleteSelf ? "DELETE_SELF" : "NONE")),
            ])
        case .asset(let asset):
            .object([
                ("size", .number(Int(asset.byteCount))), ("fileChecksum", .text(Base64.encode(asset.sha256))),
            ])
        case .location(let place): location(place)
        default: .none
        }
    }

    private static func location(_ place: FieldLocation) -> OutputValue {
        .object([
            ("latitude", .decimal(place.latitude)), ("longitude", .decimal(place.longitude)),
            ("altitude", .decimal(place.altitude)), ("horizontalAccuracy", .decimal(place.horizontalAccuracy)),
            ("verticalAccuracy", .decimal(place.verticalAccuracy)), ("course", .decimal(place.course)),
            ("speed", .decimal(place.speed)), ("timestamp", .text(DateText.text(place.timestamp))),
        ])
    }
}

/// JSON in lines, with two spaces for each level.
enum CKToolJSONText {
    static func text(_ value: OutputValue) -> String { text(value, indent: "") + "\n" }

    /// Without the end of the last line.
    ///
    /// - Parameter indent: of the further lines.
    static func text(_ value: OutputValue, indent: String) -> String {
        let inner = indent + "  "
        switch value {
        case .list(let values) where !values.isEmpty:
            return lines(values.map { text($0, indent: inner) }, "[", "]", indent)
        case .object(let members) where !members.isEmpty:
            return lines(
                members.map { "\(JSONForm.string($0.0)): \(text($0.1, indent: inner))" }, "{", "}", indent)
        default: return JSONForm.text(value)
        }
    }

    private static func lines(_ parts: [String], _ open: String, _ close: String, _ indent: String) -> String {
        "\(open)\n" + parts.map { "\(indent)  \($0)" }.joined(separator: ",\n") + "\n\(indent)\(close)"
    }
}
