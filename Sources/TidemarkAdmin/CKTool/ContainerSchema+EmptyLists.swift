// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain

extension ContainerSchema {
    /// What empty lists of a new record teach. Stored, an empty list has no type; its field has one in the schema.
    ///
    /// - Parameters:
    ///   - emptyLists: the declared types, by key.
    ///   - entriesMax: types and fields of a schema (``Limits/schemaEntriesMax``).
    /// - Returns: nothing if the schema is frozen: it learns nothing, and the save is judged as any other.
    /// - Throws: the refusal that the same list would meet if it had elements.
    func lesson(
        of emptyLists: [String: SchemaFieldType], type: String, entriesMax: Int
    ) throws(SchemaRefusal) -> SchemaLesson {
        let known = schema.types[type]
        var new: [String: FieldSchema] = [:]
        for (key, wanted) in emptyLists.sorted(by: { $0.key < $1.key }) {
            guard let field = known?.fields[key] else {
                if !isFrozen { new[key] = FieldSchema(wanted) }
                continue
            }
            guard field.isEncrypted || field.type == wanted else {
                throw .typeDiffers(type: type, key: key, has: field.type, wants: wanted.name)
            }
        }
        guard !new.isEmpty else { return SchemaLesson() }
        let lesson = SchemaLesson(fields: [type: new])
        guard schema.entryCount + (known == nil ? 1 : 0) + new.count <= entriesMax else {
            throw .full(type: type, entriesMax: entriesMax)
        }
        return lesson
    }
}

extension Schema {
    /// How many types and fields it has.
    fileprivate var entryCount: Int { types.values.reduce(types.count) { $0 + $1.fields.count } }
}
