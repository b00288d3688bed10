// SPDX-License-Identifier: Apache-2.0

import TidemarkCrypto
import TidemarkDomain
import TidemarkFields
import TidemarkService

/// Saves of the share by anybody.
extension PeopleHistory {
    func save(by person: Identity) async {
        let told = makeSave(by: person.user)
        let before = await stored()
        let tag = shareTag(isOld: told.isOld)
        let ids = known(in: before)
        let share = ShareSave(
            tag: tag, publicPermission: told.open,
            participants: told.seats.map { seats in
                seats.sorted { $0.key < $1.key }.map { entry(of: $0.value, $0.key, ids[$0.key]) }
            },
            allowsRequests: told.takesRequests,
            answers: AccessAnswers(denied: told.denied, blocked: told.blocked, unblocked: told.unblocked))
        let save = RecordSave(
            name: Share.zoneWideName, type: Share.recordType, tag: tag, fields: FieldMap(), parent: .unchanged,
            share: share)
        let expected = model.save(told)
        let reason = await modify(by: person, saves: [save], deletes: [])
        accuse("saves the share", person, reason.map { "\($0)" }, expected.map { "\($0)" })
        await learnLinks()
    }

    /// The IDs of seats that are there. One that was made again for the same person or address keeps the ID of the first.
    private func known(in sharing: ZoneSharing?) -> [Int: ParticipantID] {
        guard let sharing, let share = sharing.livingShare else { return [:] }
        let rows = (sharing.participants[share.number] ?? [:]).values.filter(\.isLiving)
        var ids: [Int: ParticipantID] = [:]
        for (number, seat) in model.seats {
            ids[number] =
                rows.first { row in
                    if let holder = seat.holder { return row.user == holder }
                    switch seat.name {
                    case .user(let user): return row.user == user
                    case .address(let address): return row.user == nil && row.address == address
                    case .link: return row.linkSecret.map { links[number]?.suffix($0.count) == $0[...] } ?? false
                    }
                }?.id
        }
        return ids
    }

    private func entry(of seat: PeopleModel.Seat, _ number: Int, _ known: ParticipantID?) -> ParticipantSave {
        let person: InvitedPerson =
            switch seat.name {
            case .user(let user): .user(user)
            case .address(let address): .address(address)
            case .link: .link([])
            }
        return ParticipantSave(
            id: known ?? ParticipantID(high: 3, low: UInt64(number)), person: known == nil ? person : nil,
            role: seat.isAdministrator ? .administrator : .privateUser,
            permission: seat.mayWrite ? .readWrite : .readOnly)
    }

    /// The owner's device shows the URLs, and somebody sends them around.
    private func learnLinks() async {
        guard let sharing = await stored(), let share = sharing.livingShare, let secret = sharing.secret else { return }
        url = secret
        let rows = sharing.participants[share.number] ?? [:]
        for (number, seat) in model.seats where seat.name == .link && links[number] == nil {
            guard let own = rows[ParticipantID(high: 3, low: UInt64(number))]?.linkSecret else { continue }
            links[number] = SHA256.hash(secret) + own
        }
    }

    // MARK: What is saved

    private func makeSave(by user: UserID) -> PeopleModel.Save {
        var save = PeopleModel.Save(user: user, isOld: world.oneIn(12) && (shareNumber ?? 0) > 1)
        let isOpen = model.open != .noAccess
        switch world.below(8) {
        case 0: save.open = world.oneOf([.readOnly, .readWrite])
        case 1: save.open = .noAccess
        default: if !isOpen { save.seats = makeSeats() }
        }
        if save.seats == nil || world.oneIn(2) { makeAnswers(in: &save) }
        return save
    }

    private func makeSeats() -> [Int: PeopleModel.Seat] {
        // In an order that is the same in each process, as all that throws dice.
        let left = model.seats.keys.sorted().filter { _ in world.oneIn(7) }
        var seats = model.seats.filter { !left.contains($0.key) }
        for number in seats.keys.sorted() where world.oneIn(5) {
            seats[number]?.mayWrite = world.oneIn(2)
            seats[number]?.isAdministrator = world.oneIn(3)
        }
        for _ in 0..<world.below(3) {
            guard let name = newName(besides: seats.values) else { continue }
            seats[newSeat()] = PeopleModel.Seat(
                name: name, isAdministrator: world.oneIn(4), mayWrite: world.oneIn(2))
        }
        return seats
    }

    /// Somebody who has no seat, an address that is on none, or a link.
    private func newName(besides seats: some Collection<PeopleModel.Seat>) -> PeopleModel.Name? {
        let guests = people.dropFirst().map(\.user).filter { user in
            // Whoever sat on a seat that is left out would keep it.
            model.seat(heldBy: user) == nil && !seats.contains { $0.name == .user(user) || $0.holder == user }
        }
        let addresses = PeopleRun.addresses.keys.sorted().filter { address in
            !model.seats.values.contains { $0.name == .address(address) }
                && !seats.contains { $0.name == .address(address) }
        }
        switch world.below(4) {
        case 0: return .link
        case 1: return addresses.isEmpty ? .link : .address(world.oneOf(addresses))
        default:
            let free = guests.filter { user in !model.seats.values.contains { $0.name == .user(user) } }
            return free.isEmpty ? nil : .user(world.oneOf(free))
        }
    }

    private func makeAnswers(in save: inout PeopleModel.Save) {
        if world.oneIn(2) { save.takesRequests = !world.oneIn(5) }
        for person in people {
            let (isAsking, isBlocked) = (model.asking.contains(person.user), model.blocked.contains(person.user))
            if world.oneIn(isAsking ? 4 : 20) { save.denied.insert(person.user) }
            if world.oneIn(isAsking ? 4 : 10) { save.blocked.insert(person.user) }
            if world.oneIn(isBlocked ? 4 : 20) { save.unblocked.insert(person.user) }
        }
    }
}
