// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain

/// A record type as queries need it: its fields, and the marks for which every record has its index values.
struct QueryType: Sendable {
    let name: String
    let container: ContainerID
    let version: Int64
    let isFrozen: Bool
    /// whether a record of the type was ever saved, or the type is one that no schema names.
    let isKnown: Bool
    private(set) var schema = RecordTypeSchema()
    private var ready: [String: FieldMarks] = [:]
    /// The indexes that can be used.
    private(set) var indexes: Set<PhysicalIndex.Kind> = []

    /// - Parameters:
    ///   - rows: one for each field of the type; one without a field if it has none. Nil if there are none: there is no
    ///     such database.
    ///   - indexes: the names of those that can be used.
    init?(_ rows: [QueryTypeRow], indexes valid: Set<String>, name: String) {
        guard let head = rows.first else { return nil }
        self.name = name
        container = head.container
        version = head.version
        isFrozen = head.environment == ContainerEnvironment.production.rawValue
        let systemType = RecordTypeSchema.systemType(named: name)
        isKnown = head.isKnown || systemType != nil
        if let systemType { schema = systemType }
        for row in rows {
            guard let key = row.key, let marks = row.marks else { continue }
            if let system = SystemField(rawValue: key) {
                schema.systemMarks[system] = FieldMarks(rawValue: marks)
            } else if let code = row.valueType.flatMap({ UInt8(exactly: $0) }), let type = SchemaFieldType(code: code) {
                let field = FieldSchema(type, isEncrypted: row.isEncrypted ?? false, marks: FieldMarks(rawValue: marks))
                schema.fields[key] = field
                ready[key] = FieldMarks(rawValue: row.readyMarks ?? 0)
            }
        }
        for index in PhysicalIndex.all(for: schema, named: name) where valid.contains(index.name) {
            indexes.insert(index.kind)
        }
    }

    /// Whether a query can rely on this even if fields may have been learned since. It names no field that is missing
    /// here, and searches by marks.
    func covers(_ query: Query) -> Bool {
        isKnown && (isFrozen || Schema(types: [name: schema]).knows(query))
    }

    /// The marks that the query needs and the type lacks. A development schema is then given them.
    func missingMarks(for query: Query) -> RecordMarks {
        var missing = needs(of: query)
        missing.fields = missing.fields.filter { !(schema.fields[$0]?.marks ?? []).isSuperset(of: $1) }
        missing.system = missing.system.filter { !(schema.systemMarks[$0] ?? []).isSuperset(of: $1) }
        return missing
    }

    /// Whether the type has the marks that the query needs, and all records have their index values. In production
    /// nobody computes values for missing marks: such a query is refused, or does not look at the field.
    func isPrepared(for query: Query) -> Bool {
        guard isFrozen || missingMarks(for: query) == RecordMarks() else { return false }
        return needs(of: query).fields.allSatisfy { key, marks in
            (ready[key] ?? []).isSuperset(of: marks.intersection(schema.fields[key]?.marks ?? []))
        }
    }

    private func needs(of query: Query) -> RecordMarks {
        Schema(types: [name: schema]).marksNeeded(by: query, searchesAll: !isFrozen)
    }
}
