// SPDX-License-Identifier: Apache-2.0

/// What is to be read of a zone's shares, in the same snapshot as what else is asked.
package enum SharingRead: Hashable, Sendable {
    case nothing
    /// All shares, and the participations of these users: enough for what they may do. Sorted, each once.
    case access(of: [UserID])
    /// All shares with all participants: for a change of a share, and for operators.
    case whole
    /// All shares, the participants who have not ended, and the names of people, for a user to whom they are shown.
    /// The read counts as that user's.
    case shown(to: UserID)

    /// What a reader of records needs. Only in the shared database do shares decide who may read.
    package init(for access: RecordAccess?) {
        self = access?.viewer.map { .access(of: [$0]) } ?? .nothing
    }

    /// What is enough for both.
    package func and(_ other: SharingRead) -> SharingRead {
        switch (self, other) {
        case (.nothing, let read), (let read, .nothing): read
        case (.whole, _), (_, .whole): .whole
        case (.shown(let user), _), (_, .shown(let user)): .shown(to: user)
        case (.access(let some), .access(let others)):
            .access(of: Set(some + others).sorted { $0.rawValue < $1.rawValue })
        }
    }
}

/// A user whose zones others may see: their name and their private database never change.
package struct ZoneOwner: Hashable, Sendable {
    package let user: UserID
    package let recordName: String
    package let privateDatabase: DatabaseID

    package init(user: UserID, recordName: String, privateDatabase: DatabaseID) {
        self.user = user
        self.recordName = recordName
        self.privateDatabase = privateDatabase
    }
}
