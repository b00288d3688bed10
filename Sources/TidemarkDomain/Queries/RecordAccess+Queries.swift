// SPDX-License-Identifier: Apache-2.0

extension RecordAccess {
    /// The query as it is to be carried out, so that it finds nothing that may not be read: as it is where the type may be
    /// read, of the user's own records where only their creator may.
    ///
    /// - Returns: nil if no record of the type may be read.
    package func narrowing(_ query: Query) -> Query? {
        if effectivePermission(onType: query.recordType, createdBy: nil).contains(.read) { return query }
        guard let user, effectivePermission(onType: query.recordType, createdBy: user).contains(.read) else {
            return nil
        }
        var narrowed = query
        narrowed.predicate = .and([.compare(.system(.creatorUserRecordID), .equal, .user(user)), query.predicate])
        return narrowed
    }
}

extension QueryPage {
    /// Who made and last changed the records.
    package var users: Set<UserID> {
        matches.reduce(into: []) { $0.formUnion([$1.record.createdBy, $1.record.modifiedBy]) }
    }
}
