// SPDX-License-Identifier: Apache-2.0

extension Subscription {
    /// Why the subscription cannot be saved; nil if it can. It is `subscriptionInvalid`, or for a query subscription also
    /// what a query would be refused for.
    ///
    /// R-241 says which kinds a database may have, and that a zone subscription needs a custom zone. R-243: without
    /// notification info pushes are silent, so it may be empty.
    ///
    /// - Parameter fields: what the schema says of the record type.
    package func refusal(within limits: Limits, fields: QueryFields = .unknown) -> FailureReason? {
        if kind != .query, query != nil { return .subscriptionInvalid }
        switch kind {
        case .query:
            if let reason = queryRefusal(within: limits, fields: fields) { return reason }
        case .recordZone:
            guard scope == .private, let zoneName, zoneName != ZoneName.default,
                ZoneName.isValid(zoneName, limits: limits)
            else { return .subscriptionInvalid }
        case .database:
            guard scope == .private || scope == .shared, zoneName == nil else { return .subscriptionInvalid }
        }
        guard Self.isID(id, limits: limits) else { return .subscriptionInvalid }
        if let recordType, !RecordType.isValid(recordType, limits: limits) { return .subscriptionInvalid }
        return notificationInfo.count <= limits.notificationInfoBytesMax ? nil : .subscriptionInvalid
    }

    private func queryRefusal(within limits: Limits, fields: QueryFields) -> FailureReason? {
        guard scope == .private || scope == .public, let query, let asQuery else { return .subscriptionInvalid }
        // at least one kind of change, and none that this server does not know.
        guard !query.options.isDisjoint(with: .changes), query.options.isSubset(of: .all) else {
            return .subscriptionInvalid
        }
        // the public database has no other zone.
        if let zoneName {
            guard scope == .private ? ZoneName.isValid(zoneName, limits: limits) : zoneName == ZoneName.default else {
                return .subscriptionInvalid
            }
        }
        if let refusal = asQuery.refusal(fields: fields, scope: scope, limits: limits) { return refusal.reason }
        guard query.predicateBytes.count <= limits.subscriptionPredicateBytesMax else { return .queryTooLarge }
        return nil
    }

    /// The query that finds the same records; nil for other kinds, and without a record type.
    package var asQuery: Query? {
        guard let query, let recordType else { return nil }
        return Query(recordType: recordType, zoneName: zoneName, predicate: query.predicate)
    }

    /// The custom zone with which the subscription ends. The default zone never ends.
    package var endingZoneName: String? {
        kind == .query && zoneName == ZoneName.default ? nil : zoneName
    }

    /// Printable ASCII. No other string is ever stored, so a lookup of another one can be skipped.
    package static func isID(_ id: String, limits: Limits) -> Bool {
        (1...limits.nameCharactersMax).contains(id.utf8.count) && id.utf8.allSatisfy { (0x20...0x7E).contains($0) }
    }

    /// The zones that a push names when these zones may have changed. Both lists are empty if that is not known. Nil if
    /// the subscription fires on none of them.
    ///
    /// A query subscription fires on single records. It also fires when any record may have changed.
    ///
    /// - Parameter types: the changed types in each of the zones. In a zone that is not in it, any record may have
    ///   changed.
    package func zonesPushed(ofMoved zoneNames: [String], types: [String: ChangedTypes] = [:]) -> [String]? {
        if kind == .query { return zoneNames.isEmpty ? [] : nil }
        let own = zoneNames.isEmpty || !isNarrowed ? zoneNames : zoneNames.filter { fires(on: types[$0] ?? .any) }
        guard own.isEmpty == zoneNames.isEmpty else { return nil }
        guard kind == .recordZone, let zoneName else { return own.contains("") ? [] : own }
        return own.isEmpty || own.contains(zoneName) ? [zoneName] : nil
    }

    /// Whether it is a zone or database subscription that fires only for one record type.
    package var isNarrowed: Bool { kind != .query && recordType != nil }

    /// Whether records that are relevant to it may have changed.
    package func fires(on types: ChangedTypes) -> Bool { recordType.map(types.mayInclude) ?? true }
}
