// SPDX-License-Identifier: Apache-2.0

/// Somebody whose account ends, as others' shares know them.
package struct EndedPerson: Hashable, Sendable {
    /// What the account is in each container.
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
    /// The person takes part in the living share no more, is not invited, waits for no answer and is blocked no more. Nil if
    /// nothing of that is so.
    ///
    /// The rows go, because an ended one would keep who the person was.
    func forgetting(_ person: EndedPerson, at number: ChangeNumber) -> SharingChanges? {
        precondition(isWhole)
        guard let share = livingShare else { return nil }
        let rows = rows(of: share.number).filter(person.owns)
        let asked = (requests[share.number] ?? [:]).keys.filter(person.users.contains)
        guard rows.contains(where: \.isLiving) || !asked.isEmpty else { return nil }
        var changes = SharingChanges(share.number, at: number)
        changes.forgotten = rows.map(\.id).sorted()
        changes.droppedRequests = asked.sorted { $0.rawValue < $1.rawValue }
        return changes
    }
}
