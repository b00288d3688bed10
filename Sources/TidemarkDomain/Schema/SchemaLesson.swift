// SPDX-License-Identifier: Apache-2.0

/// What saves teach a schema that is not frozen: types and fields that it did not know.
package struct SchemaLesson: Sendable, Equatable {
    /// By type and key, without marks. A type without new fields may be new itself.
    package private(set) var fields: [String: [String: FieldSchema]]

    package init(fields: [String: [String: FieldSchema]] = [:]) {
        self.fields = fields
    }

    package var isEmpty: Bool { fields.isEmpty }

    /// How many types and fields it may add.
    package var entryCount: Int { fields.values.reduce(fields.count) { $0 + $1.count } }

    /// The first save of a key fixes its type, also within one lesson: what is there stays.
    package mutating func merge(_ other: SchemaLesson) {
        for (type, added) in other.fields { fields[type, default: [:]].merge(added) { first, _ in first } }
    }

    mutating func add(type: String) { fields[type, default: [:]].merge([:]) { first, _ in first } }

    mutating func add(_ field: FieldSchema, key: String, type: String) {
        if fields[type]?[key] == nil { fields[type, default: [:]][key] = field }
    }
}

extension Schema {
    /// This schema with what it did not know; what it knew stays as it was.
    package func learning(_ lesson: SchemaLesson) -> Schema {
        var schema = self
        for (type, fields) in lesson.fields {
            schema.types[type, default: RecordTypeSchema()].fields.merge(fields) { known, _ in known }
        }
        return schema
    }
}
