// SPDX-License-Identifier: Apache-2.0

/// The part of a zone's shares that must be read, in the same snapshot as the rest.
package enum SharingRead: Hashable, Sendable {
    case nothing
    /// All shares, and the participations of these users: enough for what they may do. Sorted, each once.
    case access(of: [UserID])
    /// All shares with all participants: for operators, and for the end of an account.
    case whole
    /// All shares, all participants of the chosen ones, and the participations of these users in the others: for a change of
    /// shares. Users are sorted, each once.
    case people(of: ShareChoice, and: [UserID])
    /// For a user to whom the shares are shown. It has all shares, the participants of the chosen ones who have not ended, the user's own
    /// part in the others, and the names of people. The read counts as that user's.
    case shown(to: UserID, of: ShareChoice = .every)
    /// The same of the chosen shares alone, as if there were no others: for somebody who brings links, or gets CKShare records.
    case linked(to: UserID, of: ShareChoice)

    /// The part that a reader of records needs. Only in the shared database do shares decide who may read.
    package init(for access: RecordAccess?) {
        self = access?.viewer.map { .access(of: [$0]) } ?? .nothing
    }

    /// The least that is enough for both. Reads for showing are never combined with reads for a change of shares.
    package func and(_ other: SharingRead) -> SharingRead {
        switch (self, other) {
        case (.nothing, let read), (let read, .nothing): return read
        case (.access(let some), .access(let others)): return .access(of: Self.each(some + others))
        case (.shown(let user, let some), .shown(_, let others)): return .shown(to: user, of: some.union(others))
        case (.shown(let user, let choice), .access), (.access, .shown(let user, let choice)):
            return .shown(to: user, of: choice)
        case (.people(let some, let users), .people(let others, let more)):
            return .people(of: some.union(others), and: Self.each(users + more))
        case (.people(let choice, let users), .access(let more)), (.access(let more), .people(let choice, let users)):
            return .people(of: choice, and: Self.each(users + more))
        default: return .whole
        }
    }

    private static func each(_ users: [UserID]) -> [UserID] { Set(users).sorted { $0.rawValue < $1.rawValue } }

    /// The shares for which all people are read.
    package var choice: ShareChoice {
        switch self {
        case .nothing, .access: ShareChoice()
        case .whole: .every
        case .people(let choice, _), .shown(_, let choice), .linked(_, let choice): choice
        }
    }

    /// Whether all people of all living shares are read.
    package var isWhole: Bool { choice.isEvery }

    /// Whether the decision may add shares and people. Then those of the account are counted.
    package var countsRows: Bool {
        switch self {
        case .whole, .people: true
        case .nothing, .access, .shown, .linked: false
        }
    }

    /// To whom the shares are shown: people who have ended are left out, and names come along.
    package var viewer: UserID? {
        switch self {
        case .shown(let user, _), .linked(let user, _): user
        case .nothing, .access, .whole, .people: nil
        }
    }

    /// Whether shares are left out that were not chosen.
    package var leavesOutOthers: Bool { if case .linked = self { true } else { false } }

    /// Those whose own parts are read in shares that were not chosen.
    package var partUsers: [UserID] {
        switch self {
        case .nothing, .whole, .linked: []
        case .access(let users), .people(_, let users): users
        case .shown(let user, _): [user]
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
