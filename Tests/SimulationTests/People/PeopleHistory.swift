// SPDX-License-Identifier: Apache-2.0

import TidemarkDomain
import TidemarkScheduling
import TidemarkService
import TidemarkTestKit
import TidemarkTestSupport

/// What people do with the share of one zone, by requests to the servers, beside a ``PeopleModel`` that does the same.
final class PeopleHistory: @unchecked Sendable {
    // NB: unchecked, as all of the simulation: one thread runs it.
    static let zoneName = SimulatedWorld.zoneNames[0]

    let world: SimulatedWorld
    /// The owner first.
    let people: [Identity]
    let devices: [SimulatedDevice]
    var model: PeopleModel
    /// What links of seats end with, also of those that are gone.
    var links: [Int: [UInt8]] = [:]
    /// What the zone's URL ends with, once it was shared.
    var url: [UInt8]?
    private var seatCount = 0

    init(_ world: SimulatedWorld, owner: Identity, _ devices: [SimulatedDevice]) {
        (self.world, people, self.devices) = (world, [owner] + world.guests, devices)
        let accounts = Dictionary(uniqueKeysWithValues: zip(PeopleRun.guestNames, world.guests))
        model = PeopleModel(owner: owner.user, addresses: PeopleRun.addresses.compactMapValues { accounts[$0]?.user })
    }

    var owner: Identity { people[0] }

    func newSeat() -> Int {
        seatCount += 1
        return seatCount
    }

    // MARK: Steps

    /// No divisor of how many devices there are.
    private static let devicesApart = 7

    /// One operation, while devices edit and fetch. Then everybody looks.
    func step() async {
        let first = world.below(devices.count)
        // Of different users, and each once.
        let busy = (0..<world.below(4)).map { index in
            let device = devices[(first + index * Self.devicesApart) % devices.count]
            let (pause, edits) = (world.delay(), world.oneIn(3))
            return world.scheduler.run { [world] in
                await world.scheduler.pass(pause)
                if edits { await device.edit() } else { await device.sync() }
            }
        }
        await world.scheduler.pass(world.delay())
        await act()
        for task in busy { await task.value }
        for person in people where !world.isFaultSeen { await compare(person) }
    }

    private func act() async {
        let person = world.oneOf(people)
        switch world.below(24) {
        case 0...7: await save(by: world.oneIn(2) ? owner : person)
        case 8...13: await accept(person, with: someKey())
        case 14...17: await ask(person, with: someKey())
        case 18: await decline(person, with: someKey())
        case 19: await leave(person)
        case 20: await race()
        case 21: if world.oneIn(2) { await end() } else { await save(by: owner) }
        default: await save(by: owner)
        }
    }

    private func someKey() -> PeopleModel.Key {
        let known = links.keys.sorted().suffix(5)
        guard url != nil else { return .nothing }
        return known.isEmpty || world.oneIn(2) ? .url : .link(world.oneOf(Array(known)))
    }

    /// The bytes of the link; nil: it was never made.
    private func secret(of key: PeopleModel.Key) -> [UInt8]? {
        switch key {
        case .nothing: nil
        case .url: url
        case .link(let seat): links[seat]
        }
    }

    private func bearer(_ person: Identity) -> LinkBearer {
        LinkBearer(user: person.user, viewer: person.sharedDatabase, life: device(of: person).id)
    }

    func device(of person: Identity) -> SimulatedDevice {
        let index = people.firstIndex { $0.user == person.user } ?? 0
        return devices[index * (devices.count / people.count)]
    }

    func accuse(_ what: String, _ person: Identity, _ said: String?, _ expected: String?) {
        guard said != expected else { return }
        world.history.accuse(
            "I-5: user \(person.user.rawValue) \(what): \(said ?? "success") instead of \(expected ?? "success")")
    }

    // MARK: Coming and going

    private func accept(_ person: Identity, with key: PeopleModel.Key) async {
        let expected = model.accept(person.user, with: key)
        let answer = await accepted(person, with: key)
        accuse("accepts with \(key)", person, answer.map { "\($0)" }, expected.map { "\($0)" })
    }

    /// Why it was refused; nil: it was not.
    private func accepted(_ person: Identity, with key: PeopleModel.Key) async -> FailureReason? {
        let (secret, bearer) = (secret(of: key), bearer(person))
        let answer = await world.send { await $0.acceptShares(ofLinks: [secret], for: bearer) }
        return reason(of: answer.map { $0.flatMap { $0.first?.map { _ in () } ?? .failure(.serverFault) } })
    }

    private func reason(of answer: Result<Void, FailureReason>?) -> FailureReason? {
        switch answer {
        case nil: .storeUnavailable
        case .failure(let reason): reason
        case .success: nil
        }
    }

    /// Two who may both take a free link come at once, to any servers: one of them gets it.
    private func race() async {
        let free = model.seats.filter { $0.value.name == .link && $0.value.holder == nil }.keys.sorted()
        guard let seat = free.first else { return await accept(world.oneOf(people), with: someKey()) }
        let key = PeopleModel.Key.link(seat)
        let may = people.filter { model.way(of: $0.user, with: key) == .seat(seat) }
        guard may.count > 1 else { return }
        let first = world.below(may.count)
        let racing = [may[first], may[(first + 1) % may.count]]
        let tasks = racing.map { person in world.scheduler.run { await self.accepted(person, with: key) } }
        var reasons: [FailureReason?] = []
        for task in tasks { reasons.append(await task.value) }
        guard let winner = reasons.firstIndex(of: nil), reasons.count(where: { $0 == nil }) == 1,
            reasons.contains(.shareUnknown)
        else { return world.history.accuse("R-970: two came with one link at once, and were told \(reasons)") }
        _ = model.accept(racing[winner].user, with: key)
    }

    private func ask(_ person: Identity, with key: PeopleModel.Key) async {
        let expected = model.ask(person.user, with: key)
        let (secret, bearer) = (secret(of: key), bearer(person))
        let answer = await world.send { await $0.requestAccess(toLinks: [secret], for: bearer) }
        let said = reason(of: answer.map { $0.flatMap { $0.first ?? .failure(.serverFault) } })
        accuse("asks with \(key)", person, said.map { "\($0)" }, expected.map { "\($0)" })
    }

    private func decline(_ person: Identity, with key: PeopleModel.Key) async {
        model.decline(person.user, with: key)
        let (secret, bearer) = (secret(of: key), bearer(person))
        let answer = await world.send { await $0.declineShares(ofLinks: [secret], for: bearer) }
        let said = reason(of: answer.map { $0.flatMap { $0.first ?? .failure(.serverFault) } })
        accuse("declines with \(key)", person, said.map { "\($0)" }, nil)
    }

    private func leave(_ person: Identity) async {
        guard person.user != owner.user else { return }
        model.leave(person.user)
        let (key, bearer) = (world.key(Self.zoneName), bearer(person))
        let answer = await world.send { await $0.leaveZones([key], for: bearer) }
        accuse("leaves", person, reason(of: answer?.first).map { "\($0)" }, nil)
    }

    private func end() async {
        guard model.isShared else { return }
        model.end()
        let reason = await modify(by: owner, saves: [], deletes: [Share.zoneWideName])
        accuse("ends the share", owner, reason.map { "\($0)" }, nil)
    }

    // MARK: Requests for the share's record

    /// The tag of the CKShare record; nil: there is none.
    func shareTag(isOld: Bool) -> ChangeTag? {
        guard let zone = world.history.livingZone(Self.zoneName), let number = shareNumber else { return nil }
        return ChangeTag.version(store: world.history.store, zone: zone.id, number: isOld ? number - 1 : number)
    }

    /// The change number of the CKShare record.
    var shareNumber: ChangeNumber? {
        guard model.isShared else { return nil }
        return world.history.livingZone(Self.zoneName)?.records[Share.zoneWideName]?.number
    }

    /// Why it was refused; nil: it was not.
    func modify(by person: Identity, saves: [RecordSave], deletes: [String]) async -> FailureReason? {
        let (device, key) = (device(of: person), world.key(Self.zoneName))
        let access: RecordAccess =
            person.user == owner.user ? .owner(person.user) : RecordAccess(scope: .shared, user: person.user)
        let (workOwner, isAtomic, user) = (device.workOwner, world.oneIn(2), person.user)
        let answer = await device.insist(on: device.nextRequestID()) { service, id in
            let request = RecordsRequest(
                id: id, key: key, saves: saves, deletes: deletes, policy: .ifServerRecordUnchanged, isAtomic: isAtomic,
                user: user, access: access)
            return await service.modifyRecords([request], for: workOwner)[0]
        }
        switch answer {
        case nil: return .storeUnavailable
        case .failure(let reason)?: return reason
        case .success(let outcome)?:
            if case .failed(let failure)? = outcome.saves.first { return failure.reason }
            return nil
        }
    }

    // MARK: Looking

    /// The zone's shares as the servers' rows have them, for whoever may see all.
    func stored() async -> ZoneSharing? {
        try? await MemoryStore(world.database).sharing(of: world.key(Self.zoneName), .whole)?.sharing
    }

    private func compare(_ person: Identity) async {
        let (names, list): (Set<String>, DatabaseID) = ([Self.zoneName], world.viewer)
        let access: RecordAccess =
            person.user == owner.user ? .owner(person.user) : RecordAccess(scope: .shared, user: person.user)
        guard
            case .success(let shares)? = await world.send({
                await $0.shares(of: names, in: list, named: [Share.zoneWideName], by: access)
            })
        else { return world.history.accuse("in calm weather a share was not read") }
        let shown = shares.values.first?.shownShare(to: person.user)
        let seen = shown.map(lines) ?? []
        let expected = model.view(of: person.user)
        if seen != expected {
            world.history.accuse("R-312: user \(person.user.rawValue) sees \(seen), and not \(expected)")
        }
        for key in [.url] + links.keys.sorted().suffix(4).map(PeopleModel.Key.link) { await compare(person, with: key) }
    }

    private func compare(_ person: Identity, with key: PeopleModel.Key) async {
        guard let secret = secret(of: key) else { return }
        let bearer = bearer(person)
        let answer = await world.send { await $0.shareMetadata(ofLinks: [secret], for: bearer) }
        guard case .success(let results)? = answer, let result = results.first else {
            return world.history.accuse("in calm weather a link was not looked up")
        }
        switch result {
        case .failure(.shareUnknown):
            accuse("is told with \(key)", person, "nothing", model.standing(of: person.user, with: key) ?? "nothing")
        case .failure(let reason): world.history.accuse("with \(key) a look was refused: \(reason)")
        case .success(let metadata):
            let text = "\(metadata.role.name) \(metadata.status.name) \(metadata.permission.name)"
            accuse("is told with \(key)", person, text, model.standing(of: person.user, with: key) ?? "nothing")
            judge(metadata, person, with: key)
        }
    }

    /// What comes with a look at a link.
    private func judge(_ metadata: ShareMetadata, _ person: Identity, with key: PeopleModel.Key) {
        let way = model.way(of: person.user, with: key)
        var comesByLink = false
        if case .seat(let number)? = way { comesByLink = model.seats[number]?.name == .link }
        if metadata.share.secret.isEmpty != comesByLink {
            world.history.accuse("R-970: with \(key) the URL of the zone is told, or is not")
        }
        let isInside = way == .owner || way == .inside
        guard !isInside else { return }
        // The owner, and themselves if they are invited.
        let count = way == .crowd ? 1 : 2
        if metadata.share.participants.count != count || !metadata.share.requesters.isEmpty
            || !metadata.share.blocked.isEmpty || metadata.share.allowsRequests
            || metadata.share.participants.contains(where: { $0.linkSecret != nil || $0.address != nil })
        {
            world.history.accuse("R-312: with \(key) somebody who is not in sees \(metadata.share)")
        }
    }

    /// As ``PeopleModel/view(of:)``.
    private func lines(_ share: ShownShare) -> [String] {
        var lines = share.participants.map { one -> String in
            switch one.role {
            case .owner: return "owner \(one.user?.rawValue ?? 0)"
            case .publicUser: return "public \(one.permission) \(one.user?.rawValue ?? 0)"
            case .administrator, .privateUser:
                let link = one.linkSecret.flatMap { secret in
                    links.first { $0.value.suffix(secret.count) == secret[...] }
                }
                return PeopleModel.line(
                    isAdministrator: one.role == .administrator, mayWrite: one.permission == .readWrite,
                    hasCome: one.status == .accepted, user: one.user, one.address ?? "",
                    one.linkSecret == nil ? "" : "link \(link?.key ?? 0)", isApproved: one.isApprovedRequester)
            }
        }
        lines +=
            share.requesters.map { "asks \($0.user.rawValue)" } + share.blocked.map { "blocked \($0.user.rawValue)" }
        if share.allowsRequests { lines.append("takes requests") }
        return lines.sorted()
    }
}
