// SPDX-License-Identifier: Apache-2.0

internal import TidemarkFields

/// The record types of a container in one environment, and its roles.
package struct Schema: Hashable, Sendable {
    /// By name.
    package var types: [String: RecordTypeSchema]
    /// The names of the container's own roles.
    package var roles: Set<String>

    package init(types: [String: RecordTypeSchema] = [:], roles: Set<String> = []) {
        self.types = types
        self.roles = roles
    }
}

/// One record type: its fields, and the permissions on its records.
package struct RecordTypeSchema: Hashable, Sendable {
    /// By key.
    package var fields: [String: FieldSchema]
    /// Marks of the system fields. Fields without marks are left out.
    package var systemMarks: [SystemField: FieldMarks]
    package var grants: Grants

    package init(
        fields: [String: FieldSchema] = [:], systemMarks: [SystemField: FieldMarks] = [:], grants: Grants = .standard
    ) {
        self.fields = fields
        self.systemMarks = systemMarks
        self.grants = grants
    }
}

extension RecordTypeSchema {
    /// A type of each database except the public one that no schema names: the type of CKShare records. They may have any fields,
    /// so queries find them only by system fields.
    package static func systemType(named name: String) -> RecordTypeSchema? { Share.isType(name) ? share : nil }

    private static let share: RecordTypeSchema = {
        var type = RecordTypeSchema()
        for field in SystemField.allCases where !field.possibleMarks.isEmpty {
            type.systemMarks[field] = field.possibleMarks
        }
        return type
    }()
}

/// The strings that can name types, fields and roles in a schema.
package enum SchemaName {
    /// A letter, then letters, digits and underscores, at most 255.
    package static func isValid(_ name: String) -> Bool { FieldKeyRule.app.allows(name) }
}

/// The schema of one container in one environment.
package struct ContainerSchema: Sendable, Equatable {
    package let container: ContainerID
    /// Grows with every change by an operator, of this schema or another. Types and fields that saves add do not change
    /// it.
    package let version: Int64
    /// Whether the schema is frozen: it learns nothing, and unknown types and fields are refused.
    package let isFrozen: Bool
    package var schema: Schema

    package init(container: ContainerID, version: Int64, isFrozen: Bool, schema: Schema) {
        self.container = container
        self.version = version
        self.isFrozen = isFrozen
        self.schema = schema
    }
}

extension ContainerSchema {
    /// Its contents, as ``SchemaRevision`` tells them apart.
    package var revision: SchemaRevision {
        SchemaRevision(
            version: version,
            rowCount: schema.types.values.reduce(schema.types.count) { $0 + $1.fields.count + $1.systemMarks.count })
    }
}

/// Tells whether a schema has changed. An operator's change has another version. Saves only add rows.
package struct SchemaRevision: Sendable, Hashable {
    package let version: Int64
    /// Types, fields and marked system fields.
    package let rowCount: Int

    package init(version: Int64, rowCount: Int) {
        self.version = version
        self.rowCount = rowCount
    }
}

/// Identifies the schema that holds for a database, as a transaction read it after taking its locks.
package struct SchemaStamp: Sendable, Hashable {
    package let container: ContainerID
    package let version: Int64

    package init(container: ContainerID, version: Int64) {
        self.container = container
        self.version = version
    }
}
