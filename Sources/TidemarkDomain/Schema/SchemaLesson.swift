// SPDX-License-Identifier: Apache-2.0

/// The types and fields that saves add to a schema that is not frozen.
package struct SchemaLesson: Sendable, Equatable {
    /// New fields by type and key, without marks. A type without new fields may itself be new.
    package private(set) var fields: [String: [String: FieldSchema]]

    package init(fields: [String: [String: FieldSchema]] = [:]) {
        self.fields = fields
    }

    package var isEmpty: Bool { fields.isEmpty }

    /// How many types and fields another lesson would add to this one.
    package func newEntryCount(of other: SchemaLesson) -> Int {
        other.fields.reduce(0) { sum, added in
            guard let known = fields[added.key] else { return sum + 1 + added.value.count }
            return sum + added.value.keys.count { known[$0] == nil }
        }
    }

    /// Adds another lesson. The first save of a key fixes its type, also within one lesson, so existing entries stay.
    package mutating func merge(_ other: SchemaLesson) {
        for (type, added) in other.fields { fields[type, default: [:]].merge(added) { first, _ in first } }
    }

    mutating func add(type: String) { fields[type, default: [:]].merge([:]) { first, _ in first } }

    mutating func add(_ field: FieldSchema, key: String, type: String) {
        if fields[type]?[key] == nil { fields[type, default: [:]][key] = field }
    }
}

extension Schema {
    /// This schema with the unknown types and fields added. Known ones stay as they are.
    package func learning(_ lesson: SchemaLesson) -> Schema {
        var schema = self
        for (type, fields) in lesson.fields {
            schema.types[type, default: RecordTypeSchema()].fields.merge(fields) { known, _ in known }
        }
        return schema
    }

    package func part(of lesson: SchemaLesson) -> Schema {
        var part = Schema()
        for (name, fields) in lesson.fields {
            guard let type = types[name] else { continue }
            part.types[name] = RecordTypeSchema(fields: type.fields.filter { fields[$0.key] != nil })
        }
        return part
    }
}
