// SPDX-License-Identifier: Apache-2.0

internal import TidemarkBytes
package import TidemarkDomain
package import TidemarkFields
package import TidemarkWire

/// A `QueryRecords` in the types of the rules. The query is not checked yet.
package struct RecordsSearch: Sendable {
    package let query: Query
    /// The database of the query's zone. Of a query in all zones, the caller's own.
    package let database: DatabaseID
    /// Empty: from the first record.
    package let cursor: [UInt8]
    /// 0: the server decides.
    package let limit: Int
    package let selection: FieldSelection?
    /// Users in the predicate that the viewpoint does not know. No record matches them.
    package let unknownUsers: Set<String>

    /// - Throws: ``Refusal``: `zoneNotFound` for somebody else's zone, `queryTooLarge`, `requestInvalid`.
    package init(_ request: WireQueryRecords, by viewpoint: Viewpoint, limits: Limits) throws(Refusal) {
        var unknownUsers: Set<String> = []
        let zone = request.query.hasZone ? try viewpoint.requiredZoneKey(of: request.query.zone) : nil
        query = try Query(request.query, in: zone, by: viewpoint, limits: limits, unknownUsers: &unknownUsers)
        database = zone?.database ?? viewpoint.database
        self.unknownUsers = unknownUsers
        cursor = request.cursor
        limit = Int(request.limit)
        selection = request.hasDesiredKeys ? try FieldSelection(request.desiredKeys) : nil
    }

    /// A query as the library encodes it, for callers without a session.
    ///
    /// - Throws: as above, and `requestInvalid` for bytes that are no query.
    package init(encodedQuery: [UInt8], by viewpoint: Viewpoint, limits: Limits) throws(Refusal) {
        var request = WireQueryRecords()
        guard let query = try? WireQuery(reading: encodedQuery) else { throw Refusal(.requestInvalid) }
        request.query = query
        try self.init(request, by: viewpoint, limits: limits)
    }
}

extension Query {
    /// - Throws: as ``RecordsSearch``.
    package init(_ query: WireQuery, by viewpoint: Viewpoint, limits: Limits) throws(Refusal) {
        var request = WireQueryRecords()
        request.query = query
        self = try RecordsSearch(request, by: viewpoint, limits: limits).query
    }

    /// - Parameter zone: nil: all zones of the caller's database.
    fileprivate init(
        _ query: WireQuery, in zone: ZoneKey?, by viewpoint: Viewpoint, limits: Limits,
        unknownUsers: inout Set<String>
    ) throws(Refusal) {
        // Before anything is allocated for it.
        if let refusal = QuerySize(query).refusal(within: limits) { throw Refusal(refusal) }
        var predicate = QueryPredicate.always(true)
        if query.hasPredicate {
            var reader = PredicateReader(viewpoint: viewpoint, database: zone?.database ?? viewpoint.database)
            predicate = try reader.read(query.predicate)
            unknownUsers = reader.unknownUsers
        }
        self.init(
            recordType: query.recordType, zoneName: zone?.name, predicate: predicate,
            sorts: query.sorts.map { sort in
                QuerySort(
                    QueryKey(named: sort.key), isAscending: !sort.isDescending,
                    origin: sort.hasOrigin ? QueryLocation(sort.origin) : nil)
            })
    }
}

extension QueryKey {
    /// System fields win over an app's fields of the same name.
    package init(named name: String) {
        self = QuerySystemKey(rawValue: name).map(QueryKey.system) ?? .field(name)
    }
}

extension QueryLocation {
    fileprivate init(_ location: WireQueryLocation) {
        self.init(latitude: location.latitude, longitude: location.longitude)
    }
}

/// Builds the tree of a predicate whose size was checked.
private struct PredicateReader {
    let viewpoint: Viewpoint
    /// The database in which the query looks. References do not lead out of it.
    let database: DatabaseID
    private(set) var unknownUsers: Set<String> = []

    init(viewpoint: Viewpoint, database: DatabaseID) {
        self.viewpoint = viewpoint
        self.database = database
    }

    mutating func read(_ predicate: WirePredicate) throws(Refusal) -> QueryPredicate {
        switch predicate.node {
        case .always(let result): return .always(result)
        case .compare(let node):
            let key = QueryKey(named: node.key)
            return .compare(key, try QueryComparison(node.operator), try read(node.value, for: key))
        case .between(let node):
            let key = QueryKey(named: node.key)
            return .between(key, try read(node.low, for: key), try read(node.high, for: key))
        case .beginsWith(let node): return .beginsWith(QueryKey(named: node.key), node.prefix)
        case .isIn(let node): return .isIn(QueryKey(named: node.key), try read(node))
        case .contains(let node):
            let key = QueryKey(named: node.key)
            return .contains(key, try read(node.value, for: key))
        case .containsAny(let node): return .containsAny(QueryKey(named: node.key), try read(node))
        case .isPresent(let node): return .isPresent(QueryKey(named: node.key), node.isPresent)
        case .isNear(let node):
            return .isNear(
                QueryKey(named: node.key), QueryLocation(node.location), metres: node.metres,
                isInclusive: node.isInclusive)
        case .search(let text): return .search(text)
        case .and(let node):
            var parts: [QueryPredicate] = []
            for part in node.parts { parts.append(try read(part)) }
            return .and(parts)
        case .not(let part): return .not(try read(part))
        case nil: throw Refusal(.requestInvalid, "A condition of the predicate is empty, or newer than this server.")
        }
    }

    private mutating func read(_ node: WireKeyValues) throws(Refusal) -> [QueryValue] {
        let key = QueryKey(named: node.key)
        var values: [QueryValue] = []
        for value in node.values { values.append(try read(value, for: key)) }
        return values
    }

    private mutating func read(_ value: WireQueryValue, for key: QueryKey) throws(Refusal) -> QueryValue {
        switch value.value {
        case .string(let string): return .string(string)
        case .int64(let number): return .int64(number)
        case .double(let number): return .double(number)
        case .date(let milliseconds): return .date(milliseconds: milliseconds)
        case .reference(let reference):
            if case .system(let system) = key, system.kind == .user { return .user(user(named: reference.recordName)) }
            return .reference(QueryReference(recordName: reference.recordName, zone: zone(of: reference)))
        case nil: throw Refusal(.requestInvalid, "A value of the predicate is empty, or newer than this server.")
        }
    }

    private mutating func user(named name: String) -> UserID? {
        let user = viewpoint.user(named: name)
        if user == nil { unknownUsers.insert(name) }
        return user
    }

    private func zone(of reference: WireQueryReference) -> QueryReference.Zone {
        guard reference.hasZone else { return .holder }
        guard let key = viewpoint.zoneKey(of: reference.zone), key.database == database else { return .elsewhere }
        return .named(key.name)
    }
}

extension QueryComparison {
    fileprivate init(_ comparison: WireComparisonOperator) throws(Refusal) {
        switch comparison {
        case .equal: self = .equal
        case .notEqual: self = .notEqual
        case .less: self = .less
        case .lessOrEqual: self = .lessOrEqual
        case .greater: self = .greater
        case .greaterOrEqual: self = .greaterOrEqual
        case .unspecified, .unrecognized:
            throw Refusal(
                .requestInvalid, "A comparison of the predicate has no operator, or one that is newer than this server."
            )
        }
    }
}

extension Refusal {
    package init(_ refusal: QueryRefusal) {
        self.init(refusal.reason, refusal.text, retryAfter: refusal.retryAfter.map { $0 / .seconds(1) })
    }
}
