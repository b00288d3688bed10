// SPDX-License-Identifier: Apache-2.0

extension RecordAccess {
    /// The query, narrowed so that it finds nothing that the caller may not read. If the caller may read the type, the
    /// query stays as it is. If only creators may, it finds the caller's own records.
    ///
    /// - Returns: nil if the caller may read no record of the type.
    package func narrowing(_ query: Query) -> Query? {
        let query = query.namingShares
        // The page comes with the shares of its zone, which decide (``QueryPage``).
        if scope == .shared { return query }
        func mayRead(createdBy creator: UserID?) -> Bool {
            effectivePermission(on: RecordPlace(type: query.recordType, creator: creator)).contains(.read)
        }
        if mayRead(createdBy: nil) { return query }
        guard let user, mayRead(createdBy: user) else { return nil }
        var narrowed = query
        narrowed.predicate = .and([.compare(.system(.creatorUserRecordID), .equal, .user(user)), query.predicate])
        return narrowed
    }
}

extension Query {
    /// The same query. If it is for CKShare records, it also asks for the name that each of them has. So no other
    /// record of a zone is looked at.
    fileprivate var namingShares: Query {
        guard Share.isType(recordType) else { return self }
        var query = self
        let name = QueryReference(recordName: Share.zoneWideName)
        query.predicate = .and([.compare(.system(.recordID), .equal, .reference(name)), predicate])
        return query
    }
}

extension QueryPage {
    /// The users who created or last changed the records, except the caller.
    package func users(besides caller: UserID?) -> Set<UserID> {
        matches.reduce(into: []) { $0.insert($1.record.createdBy, $1.record.modifiedBy, besides: caller) }
    }
}
