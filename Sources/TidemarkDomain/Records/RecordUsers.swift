// SPDX-License-Identifier: Apache-2.0

// The users whom an answer must name. In a private database all records usually belong to the caller, who needs
// no name. So these look for others, and usually find none: then nothing is allocated, hashed or looked up.

extension Set<UserID> {
    /// Adds the user who created and the user who last changed a record, except the caller.
    ///
    /// - Parameter caller: nil if nobody is signed in.
    package mutating func insert(_ creator: UserID, _ modifier: UserID, besides caller: UserID?) {
        // NB: numbers, which are compared in place.
        if creator.rawValue != caller?.rawValue { insert(creator) }
        if modifier.rawValue != caller?.rawValue { insert(modifier) }
    }
}

extension [RecordState] {
    /// The users who created or last changed the living records, except the caller.
    package func users(besides caller: UserID?) -> Set<UserID> {
        var users: Set<UserID> = []
        // NB: looked at in place, because to take a record out is to retain and release it.
        withUnsafeBufferPointer { records in
            for index in records.indices where !records[index].isDeleted {
                users.insert(records[index].createdBy, records[index].modifiedBy, besides: caller)
            }
        }
        return users
    }
}
