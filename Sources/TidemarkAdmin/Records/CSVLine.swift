// SPDX-License-Identifier: Apache-2.0

internal import TidemarkBytes
internal import TidemarkFields

/// A line of CSV (RFC 4180), as `tidemark admin import` reads it.
enum CSVLine {
    /// With its end.
    static func text(_ cells: [String]) -> String { cells.map(quoted).joined(separator: ",") + "\r\n" }

    private static func quoted(_ cell: String) -> String {
        let isPlain = !cell.isEmpty && !cell.utf8.contains { "\",\r\n".utf8.contains($0) } && cell.first != " "
        if isPlain || cell.isEmpty { return cell }
        return "\"" + cell.replacing("\"", with: "\"\"") + "\""
    }

    /// A field as a cell; empty if the record lacks it, or if it is encrypted.
    static func cell(_ entry: FieldMap.Entry?) -> String {
        guard let entry, !entry.isEncrypted, let value = try? entry.value() else { return "" }
        return text(of: value)
    }

    private static func text(of value: FieldValue) -> String {
        switch value {
        case .string(let text): text
        case .int64(let number): "\(number)"
        case .double(let number): "\(number)"
        case .date(let date): DateText.text(date)
        case .bytes(let bytes): Base64.encode(bytes)
        case .reference(let reference): reference.recordName
        case .asset(let asset): Hex.encode(asset.sha256)
        case .location(let place): "\(place.latitude) \(place.longitude) \(place.altitude)"
        case .strings(let list): list.joined(separator: ";")
        case .int64s(let list): list.map { "\($0)" }.joined(separator: ";")
        case .doubles(let list): list.map { "\($0)" }.joined(separator: ";")
        case .dates(let list): list.map(DateText.text).joined(separator: ";")
        case .bytesList(let list): list.map { Base64.encode($0) }.joined(separator: ";")
        case .references(let list): list.map(\.recordName).joined(separator: ";")
        case .assets(let list): list.map { Hex.encode($0.sha256) }.joined(separator: ";")
        case .locations(let list): list.map { "\($0.latitude) \($0.longitude)" }.joined(separator: ";")
        case .removed, .emptyList: ""
        }
    }
}
