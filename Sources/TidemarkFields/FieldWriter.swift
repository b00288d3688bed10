// SPDX-License-Identifier: Apache-2.0

/// Encodes values for an entry of a ``FieldMap``.
enum FieldWriter {
    static func append(_ value: FieldValue, to output: inout [UInt8]) {
        switch value {
        case .removed, .emptyList:
            break
        case .string(let text):
            FieldWire.append(tag: FieldTag.Field.string, text: text, to: &output)
        case .int64(let number):
            output.append(FieldTag.Field.int64)
            FieldWire.append(zigzag: number, to: &output)
        case .double(let number):
            output.append(FieldTag.Field.double)
            FieldWire.append(double: number, to: &output)
        case .date(let date):
            FieldWire.append(date, tag: FieldTag.Field.date, orExact: FieldTag.Field.exactDate, to: &output)
        case .bytes(let bytes):
            FieldWire.append(tag: FieldTag.Field.bytes, content: bytes, to: &output)
        case .reference(let reference):
            FieldWire.append(tag: FieldTag.Field.reference, content: encoded(reference), to: &output)
        case .asset(let asset):
            FieldWire.append(tag: FieldTag.Field.asset, content: encoded(asset), to: &output)
        case .location(let location):
            FieldWire.append(tag: FieldTag.Field.location, content: encoded(location), to: &output)
        case .strings, .int64s, .doubles, .dates, .bytesList, .references, .assets, .locations:
            appendList(value, to: &output)
        }
    }

    private static func appendList(_ value: FieldValue, to output: inout [UInt8]) {
        guard let element = value.type.element else { return }
        var tag = FieldWire.elementTag(element)
        var list: [UInt8] = []
        var packed: [UInt8] = []
        switch value {
        case .strings(let elements): for text in elements { FieldWire.append(tag: tag, text: text, to: &list) }
        case .bytesList(let elements): for bytes in elements { FieldWire.append(tag: tag, content: bytes, to: &list) }
        case .references(let elements):
            for reference in elements { FieldWire.append(tag: tag, content: encoded(reference), to: &list) }
        case .assets(let elements):
            for asset in elements { FieldWire.append(tag: tag, content: encoded(asset), to: &list) }
        case .locations(let elements):
            for location in elements { FieldWire.append(tag: tag, content: encoded(location), to: &list) }
        case .int64s(let elements): for number in elements { FieldWire.append(zigzag: number, to: &packed) }
        case .dates(let elements):
            let milliseconds = elements.compactMap { date in
                if case .milliseconds(let number) = date.form { number } else { nil }
            }
            if milliseconds.count == elements.count {
                for number in milliseconds { FieldWire.append(zigzag: number, to: &packed) }
            } else {
                tag = FieldTag.List.exactDates
                for date in elements { FieldWire.append(double: date.secondsSince2001, to: &packed) }
            }
        case .doubles(let elements): for number in elements { FieldWire.append(double: number, to: &packed) }
        default: return
        }
        if !packed.isEmpty { FieldWire.append(tag: tag, content: packed, to: &list) }
        FieldWire.append(tag: FieldTag.Field.list, content: list, to: &output)
    }

    private static func encoded(_ reference: FieldReference) -> [UInt8] {
        var output: [UInt8] = []
        FieldWire.append(tag: FieldTag.Reference.recordName, text: reference.recordName, to: &output)
        if let zone = reference.zone {
            FieldWire.append(tag: FieldTag.Reference.zoneName, text: zone.name, to: &output)
            FieldWire.append(tag: FieldTag.Reference.ownerName, text: zone.ownerName, to: &output)
        }
        if reference.action != .none { output += [FieldTag.Reference.action, reference.action.rawValue] }
        return output
    }

    private static func encoded(_ asset: FieldAsset) -> [UInt8] {
        var output: [UInt8] = []
        FieldWire.append(tag: FieldTag.Asset.sha256, content: asset.sha256, to: &output)
        if asset.byteCount != 0 {
            output.append(FieldTag.Asset.byteCount)
            FieldWire.append(varint: UInt64(bitPattern: asset.byteCount), to: &output)
        }
        return output
    }

    private static func encoded(_ location: FieldLocation) -> [UInt8] {
        var output: [UInt8] = []
        for (tag, part) in zip(FieldWire.locationTags, FieldLocation.doubles) {
            output.append(tag)
            FieldWire.append(double: location[keyPath: part], to: &output)
        }
        FieldWire.append(
            location.timestamp, tag: FieldTag.Location.timestamp, orExact: FieldTag.Location.exactTimestamp, to: &output
        )
        return output
    }
}
