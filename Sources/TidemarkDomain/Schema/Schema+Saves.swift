// SPDX-License-Identifier: Apache-2.0

package import TidemarkFields

/// Whether one save fits a schema.
package enum SchemaVerdict: Sendable, Equatable {
    /// The schema knows everything that is saved.
    case fits
    /// The schema would have to learn this first.
    case teaches(SchemaLesson)
    case refused(SchemaRefusal)
}

extension ContainerSchema {
    /// Checks the type and the fields of a save; changes nothing.
    ///
    /// A removal and an empty list teach nothing. If the key is known, an empty list must still go to a list, encrypted
    /// or not as the list is. If several keys are wrong, the first in their order is reported.
    package func verdict(onSaving fields: FieldMap, type: String) -> SchemaVerdict {
        // every container has user records, even if its schema does not name them.
        let known = schema.types[type] ?? (type == RecordType.users ? RecordTypeSchema() : nil)
        var lesson = SchemaLesson()
        if known == nil {
            // a CKShare record may have any fields, and no schema names it.
            if Share.isType(type) { return .fits }
            if isFrozen { return .refused(.typeUnknown(type: type)) }
            lesson.add(type: type)
        }
        for entry in fields where entry.type != .removed {
            let key = entry.key
            if let field = known?.fields[key] {
                if let refusal = field.refusal(of: entry, key: key, type: type) { return .refused(refusal) }
            } else if isFrozen {
                return .refused(.fieldUnknown(type: type, key: key))
            } else if let wanted = SchemaFieldType(code: entry.typeCode) {
                lesson.add(FieldSchema(wanted, isEncrypted: entry.isEncrypted), key: key, type: type)
            }
        }
        return lesson.isEmpty ? .fits : .teaches(lesson)
    }
}

extension FieldSchema {
    fileprivate func refusal(of entry: FieldMap.Entry, key: String, type: String) -> SchemaRefusal? {
        if entry.isEncrypted != isEncrypted { return .spaceDiffers(type: type, key: key, isEncrypted: isEncrypted) }
        // Only devices know the content of an encrypted value, so it fits whatever type is declared.
        if isEncrypted, entry.type == .bytes { return nil }
        if entry.typeCode == self.type.code || (entry.type == .emptyList && self.type.isList) { return nil }
        return .typeDiffers(type: type, key: key, has: self.type, wants: entry.schemaName)
    }
}

extension FieldMap.Entry {
    /// The name of the entry's type in the schema language.
    fileprivate var schemaName: String { SchemaFieldType(code: typeCode)?.name ?? "an empty list" }
}
