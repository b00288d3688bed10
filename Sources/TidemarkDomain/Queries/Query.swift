// SPDX-License-Identifier: Apache-2.0

/// A query for records: a type, one zone or all, a condition and an order.
///
/// A pure value. The store in memory evaluates it (``QueryEvaluator``), the store on PostgreSQL translates it, and both
/// return the same records in the same order. Call ``refusal(fields:scope:limits:)`` before either.
package struct Query: Sendable, Hashable {
    package var recordType: String
    /// Nil for all zones of the database.
    package var zoneName: String?
    package var predicate: QueryPredicate
    /// Applied in order; ties are ordered by record name, then by zone name. Empty: by creation date.
    package var sorts: [QuerySort]

    package init(
        recordType: String, zoneName: String?, predicate: QueryPredicate = .always(true), sorts: [QuerySort] = []
    ) {
        self.recordType = recordType
        self.zoneName = zoneName
        self.predicate = predicate
        self.sorts = sorts
    }

    /// The order of the records: the sorts of the query, or the creation date if it has none.
    package var effectiveSorts: [QuerySort] {
        sorts.isEmpty ? [QuerySort(.system(.creationDate))] : sorts
    }
}

/// One sort descriptor.
package struct QuerySort: Sendable, Hashable {
    package var key: QueryKey
    package var isAscending: Bool
    /// The location by distance from which the key's values are sorted; nil to sort by the values themselves.
    package var origin: QueryLocation?

    package init(_ key: QueryKey, isAscending: Bool = true, origin: QueryLocation? = nil) {
        self.key = key
        self.isAscending = isAscending
        self.origin = origin
    }
}

/// The part of a record that a predicate or a sort looks at.
package enum QueryKey: Sendable, Hashable, CustomStringConvertible {
    /// A field of the app. Encrypted fields cannot be used.
    case field(String)
    case system(QuerySystemKey)

    package var description: String {
        switch self {
        case .field(let name): name
        case .system(let field): field.rawValue
        }
    }
}

/// The system fields that predicates and sorts may name. Raw values are the names that apps use.
package enum QuerySystemKey: String, Sendable, CaseIterable {
    case recordID
    case creationDate
    case modificationDate
    case creatorUserRecordID
    case lastModifiedUserRecordID
    case parent
    case share

    /// The kind of values that the key is compared with.
    package var kind: QueryKind {
        switch self {
        case .creationDate, .modificationDate: .date
        case .creatorUserRecordID, .lastModifiedUserRecordID: .user
        case .recordID, .parent, .share: .reference
        }
    }
}
