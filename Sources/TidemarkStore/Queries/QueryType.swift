// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkPostgres

/// A record type as queries need it: its fields, and the marks for which every record has its index values.
struct QueryType: Sendable {
    let name: String
    let container: ContainerID
    let version: Int64
    let isFrozen: Bool
    /// whether a record of the type was ever saved.
    let isKnown: Bool
    private(set) var schema = RecordTypeSchema()
    private var ready: [String: FieldMarks] = [:]
    /// The indexes that can be used.
    private(set) var indexes: Set<PhysicalIndex.Kind> = []

    /// Reads the answers to `QueryStatements.type` and `validIndexes`; nil if there is no such database.
    init?(_ answers: [PostgresRows], name: String) throws(PostgresError) {
        guard answers.count == 2, let head = answers[0].first else { return nil }
        self.name = name
        container = ContainerID(try head.int64(0))
        version = try head.int64(1)
        isFrozen = try head.int16(2) == ContainerEnvironment.production.rawValue
        isKnown = try head.bool(3)
        for row in answers[0] {
            guard let key = try row.string(ifPresent: 4) else { continue }
            let marks = FieldMarks(rawValue: try row.int16(7))
            if let system = SystemField(rawValue: key) {
                schema.systemMarks[system] = marks
            } else if let code = UInt8(exactly: try row.int16(5)), let type = SchemaFieldType(code: code) {
                schema.fields[key] = FieldSchema(type, isEncrypted: try row.bool(6), marks: marks)
                ready[key] = FieldMarks(rawValue: try row.int16(8))
            }
        }
        var valid: Set<String> = []
        for row in answers[1] { valid.insert(try row.string(0)) }
        for index in PhysicalIndex.all(for: schema, named: name) where valid.contains(index.name) {
            indexes.insert(index.kind)
        }
    }

    /// Whether a query can rely on this even if fields may have been learned since: it names no field that is missing
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
