// SPDX-License-Identifier: Apache-2.0

internal import TidemarkBytes
internal import TidemarkCrypto
package import TidemarkDomain

/// An index on the table of records for queries over one record type, in all containers that have the type.
package struct PhysicalIndex: Hashable, Sendable {
    /// What the index holds of each record.
    package enum Kind: Hashable, Sendable {
        /// Scalars of a field, for equality or for order.
        case scalar(String, IndexColumn.Form)
        case members(String)
        case place(String)
        case words
        case creationDate
        case modificationDate
    }

    package let recordType: String
    package let kind: Kind

    package init(recordType: String, kind: Kind) {
        self.recordType = recordType
        self.kind = kind
    }

    /// The beginning of such an index's name. A hash follows.
    package static let namePrefix = "record_query_"

    /// The same for the same type and kind on every server.
    package var name: String {
        Self.namePrefix + Hex.encode(Array(SHA256.hash(Array("\(recordType)\u{0}\(kindName)".utf8)).prefix(12)))
    }

    /// What is indexed, in words for people.
    package var kindName: String {
        switch kind {
        case .scalar(let key, let form): IndexColumn.key(form, key)
        case .members(let key): IndexColumn.key(.members, key)
        case .place(let key): IndexColumn.key(.place, key)
        case .words: IndexColumn.words
        case .creationDate: SystemField.creationDate.rawValue
        case .modificationDate: SystemField.modificationDate.rawValue
        }
    }

    /// Builds the index while others read and write. It must not run in a transaction.
    var createSQL: String {
        "CREATE INDEX CONCURRENTLY IF NOT EXISTS \(SQLText.identifier(name)) ON record \(columns) "
            + "WHERE \(IndexedExpression.isLiving(recordType, ""))"
    }

    /// Lets the planner collect statistics of the index; nil if it does not need them.
    ///
    /// NB: PostgreSQL collects statistics of an index's expressions, and uses them only if the index has all rows of
    /// its table. Without them, it assumes that every comparison holds for a third of the rows.
    var statisticsSQL: String? {
        guard case .scalar(let key, let form) = kind else { return nil }
        let expression = IndexedExpression.prefix(IndexColumn.key(form, key), "")
        return "CREATE STATISTICS IF NOT EXISTS \(SQLText.identifier(name)) ON \(expression) FROM record"
    }

    /// Notes whose query had the index built, as a comment that PostgreSQL keeps as long as the index (R-749). So all
    /// servers count the same.
    func askerSQL(_ account: AccountID) -> String {
        "COMMENT ON INDEX \(SQLText.identifier(name)) IS 'account \(account.rawValue)'"
    }

    /// Run one after the other: indexes are not dropped in a transaction.
    static func dropSQL(_ name: String) -> [String] {
        [
            "DROP INDEX CONCURRENTLY IF EXISTS \(SQLText.identifier(name))",
            "DROP STATISTICS IF EXISTS \(SQLText.identifier(name))",
        ]
    }

    private var columns: String {
        switch kind {
        case .scalar(let key, let form):
            "(zone_id, \(IndexedExpression.prefix(IndexColumn.key(form, key), "")) NULLS FIRST, name)"
        case .members(let key):
            "USING gin (\(IndexedExpression.json(IndexColumn.key(.members, key), "")) jsonb_path_ops)"
        case .words: "USING gin (\(IndexedExpression.json(IndexColumn.words, "")) jsonb_path_ops)"
        case .place(let key):
            "(zone_id, "
                + [2, 0, 1].map { IndexedExpression.coordinate(IndexColumn.key(.place, key), $0, "") }
                .joined(separator: ", ") + ")"
        case .creationDate: "(zone_id, created_at, name)"
        case .modificationDate: "(zone_id, modified_at, name)"
        }
    }

    /// The indexes that queries over a type can use, by its marks.
    package static func all(for type: RecordTypeSchema, named name: String) -> [PhysicalIndex] {
        var kinds: [Kind] = []
        for (key, field) in type.fields.sorted(by: { $0.key < $1.key }) where !field.isEncrypted {
            kinds += Self.kinds(of: field, key: key)
        }
        if type.fields.values.contains(where: { $0.marks.contains(.searchable) }) { kinds.append(.words) }
        if !kinds.isEmpty || !type.systemMarks.isEmpty { kinds.append(.creationDate) }
        if type.systemMarks[.modificationDate]?.isEmpty == false { kinds.append(.modificationDate) }
        return kinds.map { PhysicalIndex(recordType: name, kind: $0) }
    }

    private static func kinds(of field: FieldSchema, key: String) -> [Kind] {
        let isQueryable = field.marks.contains(.queryable)
        if field.type.isList { return isQueryable ? [.members(key)] : [] }
        if field.type.element == .location { return isQueryable ? [.place(key)] : [] }
        let order = IndexColumn.orderForm(of: field.type)
        let needsOrder = isQueryable || field.marks.contains(.sortable)
        return (needsOrder ? [.scalar(key, order)] : [])
            + (isQueryable && order != .equality ? [.scalar(key, .equality)] : [])
    }
}
