// SPDX-License-Identifier: Apache-2.0

extension Schema {
    /// The indexes that a query needs, by key. Fields that the schema does not have need none.
    ///
    /// - Parameter searchesAll: whether `self CONTAINS` looks into all strings, as in development, or only into marked
    ///   ones.
    package func marksNeeded(by query: Query, searchesAll: Bool) -> RecordMarks {
        guard let type = queryType(query.recordType) else { return RecordMarks() }
        var needs = RecordMarks()
        query.predicate.forEachKey { needs.add(.queryable, to: $0, of: type) }
        for sort in query.sorts { needs.add(.sortable, to: sort.key, of: type) }
        if query.predicate.searches {
            for (key, field) in type.fields where searchesAll || field.marks.contains(.searchable) {
                needs.add(.searchable, to: .field(key), of: type)
            }
        }
        return needs
    }

    /// Whether the schema has the record type and all fields that a query names. Searches look into fields that they do
    /// not name, and a schema that learns may not know the newest ones.
    package func knows(_ query: Query) -> Bool {
        guard let type = queryType(query.recordType), !query.predicate.searches else { return false }
        var isKnown = true
        query.forEachKey { if case .field(let name) = $0, type.fields[name] == nil { isKnown = false } }
        return isKnown
    }

    /// The record type that a query names. Types of the system are in no schema.
    ///
    /// - Parameter scope: of the database. R-305: the public one has no shares.
    package func queryType(_ name: String, in scope: DatabaseScope = .private) -> RecordTypeSchema? {
        types[name] ?? (scope == .public ? nil : RecordTypeSchema.systemType(named: name))
    }

    /// This schema, with these marks for one of its types.
    package func marking(_ type: String, _ marks: RecordMarks) -> Schema {
        var schema = self
        for (key, added) in marks.fields { schema.types[type]?.fields[key]?.marks.formUnion(added) }
        for (key, added) in marks.system { schema.types[type]?.systemMarks[key, default: []].formUnion(added) }
        return schema
    }
}

extension RecordTypeSchema {
    /// This type with those of its marks alone that are among these.
    package func keeping(_ marks: RecordMarks) -> RecordTypeSchema {
        var type = self
        for key in fields.keys { type.fields[key]?.marks.formIntersection(marks.fields[key] ?? []) }
        type.systemMarks = [:]
        for (key, own) in systemMarks {
            let kept = own.intersection(marks.system[key] ?? [])
            if !kept.isEmpty { type.systemMarks[key] = kept }
        }
        return type
    }
}

/// Marks of a record type's fields.
package struct RecordMarks: Sendable, Equatable {
    package var fields: [String: FieldMarks] = [:]
    package var system: [SystemField: FieldMarks] = [:]

    package init() {}

    fileprivate mutating func add(_ marks: FieldMarks, to key: QueryKey, of type: RecordTypeSchema) {
        switch key {
        case .field(let name):
            guard let possible = type.fields[name]?.possibleMarks, possible.contains(marks) else { return }
            fields[name, default: []].formUnion(marks)
        case .system(let key):
            system[SystemField(key), default: []].formUnion(marks)
        }
    }
}

extension SystemField {
    /// The field that queries call by this name.
    package init(_ key: QuerySystemKey) {
        self =
            switch key {
            case .recordID: .recordID
            case .creationDate: .creationDate
            case .modificationDate: .modificationDate
            case .creatorUserRecordID: .creator
            case .lastModifiedUserRecordID: .lastModifier
            case .parent: .parent
            case .share: .share
            }
    }
}

extension Query {
    fileprivate func forEachKey(_ body: (QueryKey) -> Void) {
        predicate.forEachKey(body)
        for sort in sorts { body(sort.key) }
    }
}

extension QueryPredicate {
    fileprivate func forEachKey(_ body: (QueryKey) -> Void) {
        switch self {
        case .always: body(.system(.recordID))
        case .compare(let key, _, _), .between(let key, _, _), .beginsWith(let key, _), .isIn(let key, _),
            .contains(let key, _), .containsAny(let key, _), .isPresent(let key, _), .isNear(let key, _, _, _):
            body(key)
        case .search: break
        case .and(let parts): for part in parts { part.forEachKey(body) }
        case .not(let part): part.forEachKey(body)
        }
    }

    fileprivate var searches: Bool {
        switch self {
        case .search: true
        case .and(let parts): parts.contains(where: \.searches)
        case .not(let part): part.searches
        default: false
        }
    }
}
