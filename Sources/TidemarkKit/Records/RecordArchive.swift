// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TidemarkFields

/// A record in a keyed archive (R-049 … R-051). The keys must never change: apps keep archives in their databases.
enum RecordArchive {
    struct Content {
        var recordType: CKRecord.RecordType
        var recordID: CKRecord.ID
        var state: RecordContents
    }

    static let valueClasses: [AnyClass] = [
        NSArray.self, NSString.self, NSNumber.self, NSDate.self, NSData.self, NSNull.self, CKRecord.Reference.self,
        CKAsset.self, CLLocation.self,
    ]

    // MARK: Writing

    static func encodeSystemFields(
        _ recordType: CKRecord.RecordType, _ recordID: CKRecord.ID, _ state: RecordContents, to coder: NSCoder
    ) {
        coder.encode(string: recordType, forKey: "RecordType")
        coder.encode(recordID, forKey: "RecordID")
        if let metadata = state.metadata {
            coder.encode(bytes: metadata.tag, forKey: "ChangeTag")
            coder.encode(metadata.createdAt, forKey: "CreatedAt")
            coder.encode(metadata.modifiedAt, forKey: "ModifiedAt")
            coder.encode(string: metadata.createdBy, forKey: "CreatedBy")
            coder.encode(string: metadata.modifiedBy, forKey: "ModifiedBy")
        }
        if let parent = state.parent { coder.encode(parent, forKey: "Parent") }
        if let share = state.share { coder.encode(share, forKey: "Share") }
        // A parent that was never saved must not be lost with the app's fields: it is not one of them. Nor must a share.
        if state.parentChange != nil {
            coder.encode(true, forKey: "ParentChanged")
            if let parent = state.originalParent { coder.encode(parent, forKey: "OriginalParent") }
        }
        if state.shareChange != nil {
            coder.encode(true, forKey: "ShareChanged")
            if let share = state.originalShare { coder.encode(share, forKey: "OriginalShare") }
        }
    }

    /// `state` must be unpacked.
    static func encodeFields(_ state: RecordContents, to coder: NSCoder) {
        encode(state.plain, "", to: coder)
        encode(state.encrypted, "Encrypted", to: coder)
        coder.encode(bytes: state.original.bytes, forKey: "OriginalFields")
    }

    private static func encode(_ space: RecordContents.KeySpace, _ prefix: String, to coder: NSCoder) {
        let fields = space.values.sorted { $0.key < $1.key }
        let numbers = fields.compactMap { key, object in number(of: object).map { Field(key, $0) } }
        // NB: Numbers are archived as a FieldMap. An archiver writes equal NSNumbers as one object. So 1, 1.0 and true
        // would all come back as the first of them, with another type. Keys that a FieldMap cannot hold are
        // archived as objects.
        let map = try? FieldMap(numbers, limits: FieldLimits(byteCountMax: .max), keys: .share)
        let others = map == nil ? fields : fields.filter { number(of: $0.value) == nil }
        coder.encode(bytes: map?.bytes ?? [], forKey: prefix + "Numbers")
        coder.encode(strings: others.map(\.key), forKey: prefix + "Keys")
        coder.encode(NSArray(array: others.map(\.value)), forKey: prefix + "Values")
        coder.encode(strings: space.changes.keys.sorted(), forKey: prefix + "ChangedKeys")
    }

    /// Nil for everything except a number or a list of numbers of one type.
    private static func number(of object: NSObject) -> FieldValue? {
        guard object is NSNumber || object is NSArray else { return nil }
        guard let value = try? FieldObjects.value(of: object, zoneID: .default) else { return nil }
        return switch value {
        case .int64, .double, .int64s, .doubles: value
        default: nil
        }
    }

    // MARK: Reading

    static func decode(from coder: NSCoder) -> Content? {
        guard let recordType = coder.optionalString(forKey: "RecordType"),
            let recordID = coder.optionalObject(of: CKRecord.ID.self, forKey: "RecordID")
        else { return nil }
        var state = RecordContents()
        state.metadata = metadata(from: coder)
        state.parent = coder.optionalObject(of: CKRecord.Reference.self, forKey: "Parent")
        state.share = coder.optionalObject(of: CKRecord.Reference.self, forKey: "Share")
        if coder.containsValue(forKey: "ParentChanged"), coder.decodeBool(forKey: "ParentChanged") {
            state.parentChange = 0
            // Older archives lack this key: their ancestors have no parent.
            state.originalParent = coder.optionalObject(of: CKRecord.Reference.self, forKey: "OriginalParent")
        } else {
            state.originalParent = state.parent
        }
        if coder.containsValue(forKey: "ShareChanged"), coder.decodeBool(forKey: "ShareChanged") {
            state.shareChange = 0
            state.originalShare = coder.optionalObject(of: CKRecord.Reference.self, forKey: "OriginalShare")
        } else {
            state.originalShare = state.share
        }
        guard let plain = keySpace("", from: coder), let encrypted = keySpace("Encrypted", from: coder) else {
            return nil
        }
        state.plain = plain
        state.encrypted = encrypted
        if let bytes = coder.optionalBytes(forKey: "OriginalFields"),
            let original = try? FieldMap(validating: bytes, keys: .share)
        {
            state.original = original
        }
        return Content(recordType: recordType, recordID: recordID, state: state)
    }

    private static func metadata(from coder: NSCoder) -> ServerMetadata? {
        guard let tag = coder.optionalBytes(forKey: "ChangeTag") else { return nil }
        return ServerMetadata(
            tag: tag, createdAt: coder.optionalInt64(forKey: "CreatedAt") ?? 0,
            modifiedAt: coder.optionalInt64(forKey: "ModifiedAt") ?? 0,
            createdBy: coder.optionalString(forKey: "CreatedBy") ?? "",
            modifiedBy: coder.optionalString(forKey: "ModifiedBy") ?? "")
    }

    /// Empty if the archive has only system fields; nil if it is invalid.
    private static func keySpace(_ prefix: String, from coder: NSCoder) -> RecordContents.KeySpace? {
        var space = RecordContents.KeySpace()
        guard let keys = coder.optionalStrings(forKey: prefix + "Keys") else { return space }
        guard coder.containsValue(forKey: prefix + "Values"),
            let values = coder.decodeObject(of: valueClasses, forKey: prefix + "Values") as? NSArray,
            values.count == keys.count
        else { return nil }
        for (key, value) in zip(keys, values) { space.values[key] = RecordObject.make(of: value) }
        if let bytes = coder.optionalBytes(forKey: prefix + "Numbers") {
            let limits = FieldLimits(byteCountMax: .max)
            guard let numbers = try? FieldMap(validating: bytes, limits: limits, keys: .share) else { return nil }
            for entry in numbers {
                guard let value = try? entry.value() else { return nil }
                space.values[entry.key] = FieldObjects.object(of: value, zoneID: .default)
            }
        }
        for key in coder.optionalStrings(forKey: prefix + "ChangedKeys") ?? [] { space.changes[key] = 0 }
        return space
    }
}
