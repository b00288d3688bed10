// SPDX-License-Identifier: Apache-2.0

/// The effect of a save of a CKShare on the participants.
struct ParticipantsPlan: Sendable, Equatable {
    var inserted: [Participant] = []
    var updated: [Participant] = []
    /// The rows that end, as they were before.
    var ended: [Participant] = []

    var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && ended.isEmpty }
}

/// The rules of a share's list of participants.
///
/// A person of the list is *known* if they have a living row that outlives the change of the public permission. All
/// others of the list are invited.
struct ParticipantsRules {
    /// The share's rows, by their IDs; none if the share is new.
    let rows: [ParticipantID: Participant]
    let owner: UserID
    /// The public permission before and after the save.
    let before: SharePermission
    let after: SharePermission
    /// The users whom the same save blocks. They leave even while the share is public.
    let blocked: Set<UserID>
    let now: Timestamp
    let limits: Limits

    /// - Parameter entries: the list that is saved; nil: nobody was added or removed.
    func plan(_ entries: [ParticipantSave]?) -> Result<ParticipantsPlan, FailureReason> {
        guard let entries else { return .success(plan(SortedEntries(), keepsAll: true)) }
        guard let sorted = sort(entries) else { return .failure(.participantInvalid) }
        if let reason = refusal(of: sorted) { return .failure(reason) }
        return .success(plan(sorted, keepsAll: false))
    }

    // MARK: Known people

    /// A list, by what each entry is about.
    struct SortedEntries {
        /// The saves for known people, by their rows. If several are for one person, the last counts.
        var known: [ParticipantID: ParticipantSave] = [:]
        var invited: [Invitation] = []
        /// The places of those in ``invited``.
        private var places: [InvitedPerson: Int] = [:]

        /// Somebody to be invited.
        struct Invitation {
            /// The ID of a new row, or of the ended row that lives again.
            let id: ParticipantID
            let person: InvitedPerson
            var save: ParticipantSave
        }

        /// If there are several invitations of one person, the last counts.
        mutating func invite(
            _ person: InvitedPerson, by save: ParticipantSave, at id: @autoclosure () -> ParticipantID
        ) {
            if let place = places[person] {
                invited[place].save = save
            } else {
                places[person] = invited.count
                invited.append(Invitation(id: id(), person: person, save: save))
            }
        }
    }

    /// Whether a row outlives the change of the public permission.
    private func stays(_ row: Participant) -> Bool {
        guard row.isLiving else { return false }
        if after == .noAccess { return before == .noAccess }
        return row.hasAccepted
    }

    /// Nil if an entry names nobody, or somebody in a role that they cannot have.
    private func sort(_ entries: [ParticipantSave]) -> SortedEntries? {
        var places = PersonPlaces(rows.values)
        var sorted = SortedEntries()
        let others = entries.filter { $0.id != .owner && $0.person != .user(owner) }
        // Entries with the ID of a row come first: each keeps its row, even if another entry names the same person.
        for entry in others.filter({ rows[$0.id] != nil }) + others.filter({ rows[$0.id] == nil }) {
            let named = rows[entry.id]
            let row = named ?? entry.person.flatMap { places.row(of: $0) }
            if let row, stays(row) {
                guard (entry.role == .publicUser) == (row.role == .publicUser) else { return nil }
                sorted.known[row.id] = entry
                continue
            }
            // the invitation of a person who has not accepted ends when the share becomes public.
            if let row, row.isPending, after != .noAccess { continue }
            guard let person = named.map({ $0.person ?? entry.linkPerson }) ?? entry.person else { return nil }
            sorted.invite(person, by: entry, at: places.take(row) ?? entry.id)
        }
        return sorted
    }

    // MARK: Refusals

    private func refusal(of entries: SortedEntries) -> FailureReason? {
        // the owner counts too. A share that has more, because the limit was lowered, may stay as it is.
        let living = rows.values.filter(\.isLiving)
        let count = entries.known.count + entries.invited.count
        if count >= limits.participantsMax, count > living.count { return .tooManyParticipants }
        guard after != .noAccess else { return nil }
        if !entries.invited.isEmpty { return .participantsFixed }
        let removesSome = living.contains { row in
            stays(row) && entries.known[row.id] == nil && !(row.user.map(blocked.contains) ?? false)
        }
        return removesSome && before != .noAccess ? .participantsFixed : nil
    }

    // MARK: The new rows

    private func plan(_ entries: SortedEntries, keepsAll: Bool) -> ParticipantsPlan {
        var plan = ParticipantsPlan()
        let invited = Set(entries.invited.map(\.id))
        for row in rows.values where row.isLiving && !invited.contains(row.id) {
            if let entry = entries.known[row.id] {
                if let changed = changing(row, by: entry) { plan.updated.append(changed) }
            } else if !keepsAll || !stays(row) {
                plan.ended.append(row)
            }
        }
        for invitation in entries.invited {
            let row = Participant(id: invitation.id, inviting: invitation.person, invitation.save, at: now)
            if rows[row.id] == nil { plan.inserted.append(row) } else { plan.updated.append(row) }
        }
        plan.inserted.sort { $0.id < $1.id }
        plan.updated.sort { $0.id < $1.id }
        plan.ended.sort { $0.id < $1.id }
        return plan
    }

    /// Nil if the entry says what the row says.
    private func changing(_ row: Participant, by entry: ParticipantSave) -> Participant? {
        guard row.role != .publicUser else { return nil }
        var changed = row
        changed.role = entry.role
        changed.permission = entry.permission
        return changed == row ? nil : changed
    }
}

/// The rows of a share by the persons that they are found by.
private struct PersonPlaces {
    private var rows: [InvitedPerson: Participant] = [:]
    private var taken: Set<ParticipantID> = []

    init(_ all: some Collection<Participant>) {
        for row in all {
            for person in row.persons where rows[person]?.isLiving != true { rows[person] = row }
        }
    }

    func row(of person: InvitedPerson) -> Participant? { rows[person] }

    /// The ID of the row for one invitation. Nil if there is no row, or if another invitation has taken it. A row can have
    /// both a user and an address, and each of these may be invited.
    mutating func take(_ row: Participant?) -> ParticipantID? {
        guard let row, taken.insert(row.id).inserted else { return nil }
        return row.id
    }
}
