// SPDX-License-Identifier: Apache-2.0

/// One way in which a schema differs from an older one.
package enum SchemaDifference: Sendable, Equatable {
    case roleAdded(String)
    case roleRemoved(String)
    case typeAdded(String)
    case typeRemoved(String)
    case fieldAdded(type: String, key: String, FieldSchema)
    case fieldRemoved(type: String, key: String, FieldSchema)
    /// The field has another type, or changed between plain and encrypted.
    case fieldChanged(type: String, key: String, from: FieldSchema, to: FieldSchema)
    case marksChanged(type: String, key: String, from: FieldMarks, to: FieldMarks)
    case grantsChanged(type: String, from: Grants, to: Grants)

    /// Whether stored records may hold something that the new schema has no place for.
    package var isDestructive: Bool {
        switch self {
        case .typeRemoved, .fieldRemoved, .fieldChanged: true
        default: false
        }
    }

    /// One line for people: `+` for new entries, `-` for missing ones, `~` for different ones.
    package var text: String {
        switch self {
        case .roleAdded(let name): "+ ROLE \(name)"
        case .roleRemoved(let name): "- ROLE \(name)"
        case .typeAdded(let name): "+ RECORD TYPE \(name)"
        case .typeRemoved(let name): "- RECORD TYPE \(name)"
        case .fieldAdded(let type, let key, let field): "+ \(type).\(key) \(field.text)"
        case .fieldRemoved(let type, let key, let field): "- \(type).\(key) \(field.text)"
        case .fieldChanged(let type, let key, let from, let to): "~ \(type).\(key) \(from.text) -> \(to.text)"
        case .marksChanged(let type, let key, let from, let to):
            "~ \(type).\(key) \(from.isEmpty ? "no marks" : from.text) -> \(to.isEmpty ? "no marks" : to.text)"
        case .grantsChanged(let type, let from, let to):
            "~ \(type) \(from.lines.joined(separator: ", ")) -> \(to.lines.joined(separator: ", "))"
        }
    }
}

extension Schema {
    /// The differences that turn this schema into `new`, in the order of names.
    package func differences(to new: Schema) -> [SchemaDifference] {
        var differences = new.roles.subtracting(roles).sorted().map(SchemaDifference.roleAdded)
        differences += roles.subtracting(new.roles).sorted().map(SchemaDifference.roleRemoved)
        for name in Set(types.keys).union(new.types.keys).sorted() {
            switch (types[name], new.types[name]) {
            case (let old?, let new?): differences += old.differences(to: new, type: name)
            case (nil, let new?):
                differences.append(.typeAdded(name))
                differences += RecordTypeSchema().differences(to: new, type: name)
            default: differences.append(.typeRemoved(name))
            }
        }
        return differences
    }

    /// This schema with everything that `source` has beyond it: the result of promotion to production. Types that
    /// `source` has get its marks and grants. Nothing is removed.
    ///
    /// - Throws: ``SchemaConflict`` if a field has different types in the two schemas.
    package func promoting(_ source: Schema) throws(SchemaConflict) -> Schema {
        let conflicts = differences(to: source).filter { if case .fieldChanged = $0 { true } else { false } }
        guard conflicts.isEmpty else { throw SchemaConflict(differences: conflicts) }
        var result = self
        result.roles.formUnion(source.roles)
        for (name, type) in source.types {
            var merged = result.types[name] ?? type
            merged.fields.merge(type.fields) { _, new in new }
            merged.systemMarks = type.systemMarks
            merged.grants = type.grants
            result.types[name] = merged
        }
        return result
    }
}

/// The differences for which a change of a schema is refused.
package struct SchemaConflict: Error, Equatable {
    package let differences: [SchemaDifference]
}

extension RecordTypeSchema {
    fileprivate func differences(to new: RecordTypeSchema, type: String) -> [SchemaDifference] {
        var differences: [SchemaDifference] = []
        for system in SystemField.allCases {
            let (from, to) = (systemMarks[system] ?? [], new.systemMarks[system] ?? [])
            if from != to {
                differences.append(.marksChanged(type: type, key: system.rawValue, from: from, to: to))
            }
        }
        for key in Set(fields.keys).union(new.fields.keys).sorted() {
            switch (fields[key], new.fields[key]) {
            case (let from?, let to?) where from.type != to.type || from.isEncrypted != to.isEncrypted:
                differences.append(.fieldChanged(type: type, key: key, from: from, to: to))
            case (let from?, let to?) where from.marks != to.marks:
                differences.append(.marksChanged(type: type, key: key, from: from.marks, to: to.marks))
            case (nil, let to?): differences.append(.fieldAdded(type: type, key: key, to))
            case (let from?, nil): differences.append(.fieldRemoved(type: type, key: key, from))
            default: break
            }
        }
        if grants != new.grants { differences.append(.grantsChanged(type: type, from: grants, to: new.grants)) }
        return differences
    }
}
