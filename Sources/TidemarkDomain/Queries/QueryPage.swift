// SPDX-License-Identifier: Apache-2.0

/// The request to a store: one page of the results of a checked query.
package struct QueryPageQuery: Sendable {
    package let database: DatabaseID
    package let query: Query
    /// The fields of the record type. They say which fields `self CONTAINS` searches.
    package let fields: QueryFields
    /// The page begins after this position; nil for the first page.
    package let after: QueryPosition?
    /// The most records, at least 1.
    package let recordsMax: Int
    /// Once the fields hold this many stored bytes, no further record is added. There is always one.
    package let bytesMax: Int
    /// Whether the query may be the first to need a mark, which a development schema is then given.
    package let mayMark: Bool
    /// The part of the shares of the query's zone that is read with the page.
    package let sharing: SharingRead
    /// The shares of hierarchies through which the caller sees the zone, sorted: only covered records are found. Nil: the caller sees all
    /// of it. It is from an earlier read; the data that is read with the page decides. For such a caller a root has no parent,
    /// neither in a condition nor in an order.
    package var hierarchies: [ShareNumber]?

    package init(
        database: DatabaseID, query: Query, fields: QueryFields = .unknown, after: QueryPosition? = nil,
        recordsMax: Int, bytesMax: Int, mayMark: Bool = true, sharing: SharingRead = .nothing
    ) {
        self.database = database
        self.query = query
        self.fields = fields
        self.after = after
        self.recordsMax = recordsMax
        self.bytesMax = bytesMax
        self.mayMark = mayMark
        self.sharing = sharing
    }
}

/// A record that a query found.
package struct QueryMatch: Sendable, Equatable {
    package let zone: ZoneID
    package let zoneName: String
    /// The root of a shared hierarchy says so.
    package let record: RecordState

    package init(zone: ZoneID, zoneName: String, record: RecordState) {
        self.zone = zone
        self.zoneName = zoneName
        self.record = record
    }
}

extension QueryPageRead {
    /// The results as a participant sees them: by the shares that were read with the page.
    ///
    /// - Parameter hidesParents: whether the caller sees the zone through hierarchies.
    fileprivate func matchesNamingRoots(hidesParents: Bool) -> [QueryMatch] {
        guard let sharing, sharing.hasHierarchies else { return matches }
        return zip(matches, sharing.namingRoots(matches.map(\.record))).map { match, named in
            QueryMatch(
                zone: match.zone, zoneName: match.zoneName, record: hidesParents ? named.withoutRootParent : named)
        }
    }
}

/// The results of a store, in one snapshot: they include everything that was saved before.
package struct QueryPageRead: Sendable, Equatable {
    /// Whether the zone that the query names lives; true if the query names none.
    package var isZoneFound: Bool
    /// Why the newest incarnation of that zone ended, if it does not live.
    package var lastRemoval: ZoneRemovalReason?
    /// The schema that the store used, if it needs one; from the same snapshot.
    package var schema: SchemaStamp?
    /// Living records, in the query's order.
    package var matches: [QueryMatch]
    /// Whether there are more after them.
    package var hasMore: Bool
    /// The shares of the query's zone, if the query wants them and the zone lives.
    package var sharing: ZoneSharing?

    package init(
        isZoneFound: Bool, lastRemoval: ZoneRemovalReason? = nil, schema: SchemaStamp? = nil,
        matches: [QueryMatch] = [], hasMore: Bool = false
    ) {
        self.isZoneFound = isZoneFound
        self.lastRemoval = lastRemoval
        self.schema = schema
        self.matches = matches
        self.hasMore = hasMore
    }
}

/// One page of a query's results.
package struct QueryPage: Sendable, Equatable {
    package let matches: [QueryMatch]
    /// Nil if there are no more results.
    package let cursor: QueryCursor?

    /// - Parameters:
    ///   - reader: the caller's access. In the shared database, the zone does not exist for a caller who takes no part
    ///     in a share of it. Nor does the caller learn why the zone ended (I-5).
    ///   - isTypeKnown: whether the schema has the record type.
    /// - Returns: the page, or the reason why there is none: the zone is missing, or else the type is unknown
    ///
    package static func make(
        of read: QueryPageRead, for page: QueryPageQuery, by reader: RecordAccess, store: StoreIncarnation,
        isTypeKnown: Bool
    ) -> Result<QueryPage, QueryRefusal> {
        guard let access = reader.sharing(read.isZoneFound ? read.sharing : nil) else {
            return .failure(QueryRefusal(.zoneNotFound))
        }
        guard read.isZoneFound else { return .failure(QueryRefusal(.missingZone(read.lastRemoval))) }
        guard isTypeKnown else {
            return .failure(QueryRefusal(.recordTypeUnknown, subject: page.query.recordType))
        }
        let hidesParents = page.hierarchies != nil
        let matches = read.matchesNamingRoots(hidesParents: hidesParents)
        var cursor: QueryCursor?
        if read.hasMore {
            // If a store said that there is more and returned nothing, the client would ask for ever.
            guard let last = matches.last else { return .failure(QueryRefusal(.serverFault)) }
            let position = QueryOrder(page.query).position(of: last.record, in: last.zoneName)
            cursor = QueryCursor(
                store: store, database: page.database, viewer: access.viewer, query: page.query, position: position)
        }
        // The caller sees the zone through other shares than those whose records were found: ask again.
        if let share = access.share, page.hierarchies != (share.readsEverything ? nil : share.hierarchies) {
            return .failure(QueryRefusal(.zoneBusy))
        }
        // The query itself was narrowed to what may be read.
        return .success(QueryPage(matches: matches, cursor: cursor))
    }
}
