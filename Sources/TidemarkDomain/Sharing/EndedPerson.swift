// SPDX-License-Identifier: Apache-2.0

/// A person whose account ends, with the data by which others' shares know them.
package struct EndedPerson: Hashable, Sendable {
    /// The account's user in each container.
    package let users: Set<UserID>
    /// The verified addresses of the account, in their normal form.
    package let addresses: Set<String>

    package init(users: Set<UserID>, addresses: Set<String> = []) {
        self.users = users
        self.addresses = addresses
    }

    /// Whether a row is theirs. An address that somebody else has accepted with is that person's.
    func owns(_ row: Participant) -> Bool {
        if let user = row.user { return users.contains(user) }
        return row.address.map(addresses.contains) ?? false
    }
}

extension ZoneSharing {
    /// The person no longer takes part in a living share, is no longer invited or blocked, and no longer waits for an answer. The next call
    /// is about another share. Nil if no share has such an entry.
    ///
    /// The rows go, because an ended one would keep who the person was.
    func forgetting(_ person: EndedPerson, at number: ChangeNumber) -> SharingChanges? {
        for share in livingShares where hasPeople(of: share.number) && hasPlace(for: person, in: share) {
            var changes = SharingChanges(share.number, at: number)
            changes.forgotten = rows(of: share.number).filter(person.owns).map(\.id).sorted()
            changes.droppedRequests = asked(by: person, in: share).sorted { $0.rawValue < $1.rawValue }
            return changes
        }
        return nil
    }

    /// Whether the person takes part in a living share, is invited, has asked or is blocked.
    func hasPlace(for person: EndedPerson, in share: Share) -> Bool {
        rows(of: share.number).contains { $0.isLiving && person.owns($0) } || !asked(by: person, in: share).isEmpty
    }

    private func asked(by person: EndedPerson, in share: Share) -> [UserID] {
        (requests[share.number] ?? [:]).keys.filter(person.users.contains)
    }
}
