// SPDX-License-Identifier: Apache-2.0

package import TidemarkFields

/// What a schema says of one save.
package enum SchemaVerdict: Sendable, Equatable {
    /// It knows everything that is saved.
    case fits
    /// It would have to learn this first.
    case teaches(SchemaLesson)
    case refused(SchemaRefusal)
}

extension ContainerSchema {
    /// Looks at the type and the fields that a save sends; nothing is changed.
    ///
    /// A removal and an empty list teach nothing, but where the key is known an empty list must go to a list of the same
    /// space. Where several keys are wrong, the first by their order is told.
    package func verdict(onSaving fields: FieldMap, type: String) -> SchemaVerdict {
        // user records are there in every container, also in a schema that does not name them.
        let known = schema.types[type] ?? (type == RecordType.users ? RecordTypeSchema() : nil)
        var lesson = SchemaLesson()
        if known == nil {
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
        // What is in an encrypted value, nobody but the devices knows: it fits whatever type is declared.
        if isEncrypted, entry.type == .bytes { return nil }
        if entry.typeCode == self.type.code || (entry.type == .emptyList && self.type.isList) { return nil }
        return .typeDiffers(type: type, key: key, has: self.type, wants: entry.schemaName)
    }
}

extension FieldMap.Entry {
    /// How the schema language calls what the entry holds.
    fileprivate var schemaName: String { SchemaFieldType(code: typeCode)?.name ?? "an empty list" }
}
