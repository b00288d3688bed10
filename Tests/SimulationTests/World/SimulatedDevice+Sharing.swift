// SPDX-License-Identifier: Apache-2.0

import TidemarkDomain
import TidemarkFairness
import TidemarkFields
import TidemarkService

/// What owners and guests do with shares, and what the judge makes of what a guest is told.
extension SimulatedDevice {
    /// The access with which a guest asks; nil: the owner asks.
    var reader: RecordAccess? { guest.map { RecordAccess(scope: .shared, user: $0.user) } }

    var workOwner: WorkOwner {
        guard let guest else { return .account(1) }
        return .account(guest.account.rawValue)
    }

    /// One step of a device in a history with shares.
    func stepWithShares() async {
        switch world.below(20) {
        case 0...3: await edit()
        case 4, 5: await editAtOnce()
        case 6: await edit(isLarge: true)
        case 7...11: await sync()
        case 12...15: await changeShare()
        case 16, 17: await look()
        case 18:
            if guest == nil, world.oneIn(3) { await editZone() } else { await changeShare() }
        default: restart()
        }
    }

    func changeShare() async {
        let name = world.oneOf(SimulatedWorld.zoneNames)
        guard let zone = world.history.livingZone(name) else { return }
        if let guest {
            await comeOrGo(guest, in: zone)
        } else if world.sharing?.isShared(zone.id) == true, world.oneIn(5) {
            await endShare(of: zone)
        } else {
            await saveShare(of: zone)
        }
    }

    // MARK: The owner

    /// For everybody with the link, or for some.
    private func saveShare(of zone: History.Zone) async {
        let isPublic = world.oneIn(3)
        let permissions: [SharePermission] = [.readOnly, .readWrite, .readWrite]
        let invited = world.guests.enumerated().filter { _ in !world.oneIn(4) }
        let participants = invited.map { index, guest in
            ParticipantSave(
                id: ParticipantID(high: 1, low: UInt64(index + 1)), person: .user(guest.user),
                permission: world.oneOf(permissions))
        }
        let tag = world.sharing?.isShared(zone.id) == true ? shareTag(of: zone) : nil
        let share = ShareSave(
            tag: tag, publicPermission: isPublic ? world.oneOf(permissions) : .noAccess,
            participants: isPublic ? nil : participants)
        let save = RecordSave(
            name: Share.zoneWideName, type: Share.recordType, tag: tag, fields: FieldMap(), parent: .unchanged,
            share: share)
        let askedAt = world.history.length
        guard case .success(let outcome)? = await modifyShare(of: zone, saves: [save], deletes: []),
            case .saved(let metadata)? = outcome.saves.first, !isPublic
        else { return }
        let stay = Set(invited.map { $0.element.user })
        for guest in world.guests where !stay.contains(guest.user) {
            judgeEnd(of: guest, in: metadata.zone, askedAt: askedAt, "removed")
        }
    }

    private func shareTag(of zone: History.Zone) -> ChangeTag? {
        zone.records[Share.zoneWideName].map {
            ChangeTag.version(store: world.history.store, zone: zone.id, number: $0.number)
        }
    }

    private func endShare(of zone: History.Zone) async {
        let (before, store) = (world.sharing?.livingShare(in: zone.id), world.history.store)
        let answer = await modifyShare(of: zone, saves: [], deletes: [Share.zoneWideName])
        guard case .success(let outcome)? = answer, outcome.deletes == [.deleted], let before else { return }
        // What ended in a life of the store that is over may go on in the next.
        guard store == world.history.store else { return }
        if world.sharing?.livingShare(in: zone.id) == before {
            world.history.accuse("I-1: the share of zone \(zone.name) was said to be gone")
        }
    }

    private func modifyShare(
        of zone: History.Zone, saves: [RecordSave], deletes: [String]
    ) async -> Result<RecordsOutcome, FailureReason>? {
        guard let user = world.identity?.user else { return nil }
        let (key, isAtomic) = (world.key(zone.name), world.oneIn(2))
        return await insist(on: nextRequestID()) { service, id in
            let request = RecordsRequest(
                id: id, key: key, saves: saves, deletes: deletes, policy: .ifServerRecordUnchanged,
                isAtomic: isAtomic, user: user, access: .owner(user))
            return await service.modifyRecords([request], for: .account(1))[0]
        }
    }

    // MARK: Guests

    private func comeOrGo(_ guest: Identity, in zone: History.Zone) async {
        let bearer = LinkBearer(user: guest.user, viewer: guest.sharedDatabase, life: id)
        let (key, askedAt) = (world.key(zone.name), world.history.length)
        if world.oneIn(4) {
            let left = await world.send { await $0.leaveZones([key], for: bearer) }
            if case .success? = left?.first { judgeEnd(of: guest, in: zone.id, askedAt: askedAt, "said to have left") }
            return
        }
        guard let secret = world.sharing?.secret(of: zone.id) else { return }
        let answer = await world.send { await $0.acceptShares(ofLinks: [secret], for: bearer) }
        guard case .success(let results)? = answer, case .success(let metadata)? = results.first else { return }
        let violation = world.sharing?.refusal(
            of: 0, in: metadata.zone.id, to: guest.user, askedAt: askedAt, "an acceptance")
        if let violation { world.history.accuse(violation) }
    }

    /// Fetches or queries any zone, whether it is in the guest's list or not.
    private func look() async {
        guard let guest, let reader else {
            await sync()
            return
        }
        let key = world.key(world.oneOf(SimulatedWorld.zoneNames))
        let (askedAt, owner) = (world.history.length, workOwner)
        switch world.below(3) {
        case 0:
            let answer = await world.send {
                await $0.records(named: SimulatedWorld.recordNames + [Share.zoneWideName], in: key, by: reader)
            }
            guard case .success(let lookup)? = answer else { return }
            let records = lookup.records.compactMap { try? $0.get() }
            judgeSight(records, in: lookup.zone.id, askedAt: askedAt, "a fetch")
        case 1:
            let question = ZoneQuestion(key: key, token: [], recordsMax: 0, device: id, reader: reader)
            let (list, token) = (guest.sharedDatabase, bookmark.databaseToken)
            let answer = await world.send {
                await $0.databaseChanges(of: list, token: token, zonesMax: 0, tellsEnds: false, then: question)
            }
            guard case .success(let pages)? = answer else { return }
            judgeSight(pages.page, askedAt: askedAt)
            guard let page = pages.zonePage else { return }
            judgeSight(page.entries, in: page.zone, askedAt: askedAt, "a page with a list")
        default:
            let query = Query(recordType: "Note", zoneName: key.name)
            let answer = await world.send {
                await $0.queryRecords(
                    query, in: key.database, of: guest.container, by: reader, cursor: [], recordsMax: 0,
                    for: WorkTurn(of: owner))
            }
            guard case .success(let page)? = answer else { return }
            for match in page.matches { judgeSight([match.record], in: match.zone, askedAt: askedAt, "a query") }
        }
    }

    // MARK: The judge

    /// I-5: whether a guest may have been told of these records.
    func judgeSight(_ records: [RecordState], in zone: ZoneID, askedAt: Int, _ what: String) {
        guard let guest else { return }
        let newest = records.map(\.changeNumber).max() ?? 0
        let violation = world.sharing?.refusal(of: newest, in: zone, to: guest.user, askedAt: askedAt, what)
        if let violation { world.history.accuse(violation) }
    }

    /// The same for a list of zones. The end of a zone is told to who had access once.
    func judgeSight(_ page: DatabasePage, askedAt: Int) {
        guard let guest, let sharing = world.sharing else { return }
        for zone in page.changed {
            let violation = sharing.refusal(
                of: zone.changeNumber, in: zone.zone, to: guest.user, askedAt: askedAt, "a list")
            if let violation { world.history.accuse(violation) }
        }
        for zone in page.ended where !sharing.everHadAccess(guest.user, to: zone.zone) {
            world.history.accuse("I-5: the end of a zone was told to who never had access to it")
        }
    }

    /// whoever has lost access and got it again is told of the end before the zone. The ends of the page have been
    /// carried out.
    ///
    /// A fetch that begins without a token and asks for no ends is not told of those from before it, on none of its pages
    /// the tokens between these pages are those of a list of what is there. A zone that the fetch has listed already
    /// is told of as ever.
    func judgeReturn(_ page: DatabasePage, askedAt: Int) {
        guard let guest, let sharing = world.sharing else { return }
        for zone in page.changed {
            let hearsOfEnds = tellsEnds || !bookmark.databaseToken.isEmpty
            guard bookmark.listed?.contains(zone.key.name) ?? hearsOfEnds else { continue }
            guard let view = bookmark.views[zone.key.name], view.zone == zone.zone, let toldAt = view.toldAt,
                sharing.hasBegunAccess(guest.user, to: zone.zone, after: toldAt, by: askedAt)
            else { continue }
            world.history.accuse("R-225: the end of an earlier access to zone \(zone.key.name) was skipped")
        }
    }

    /// The same for the answer to an edit, also to a repeated one: without access nothing is answered but that there is
    /// no such zone, and no record comes along.
    func judgeSight(_ answer: Result<RecordsOutcome, FailureReason>, in zoneName: String, askedAt: Int) {
        guard let guest, let sharing = world.sharing, case .success(let outcome) = answer else { return }
        let tells = !(outcome.saves.allSatisfy(\.saysNothing) && outcome.deletes.allSatisfy(\.saysNothing))
        let incarnations = world.incarnations(of: zoneName)
        let refusals = incarnations.compactMap {
            sharing.refusal(of: 0, in: $0, to: guest.user, askedAt: askedAt, "the answer to an edit")
        }
        if tells, refusals.count == incarnations.count { world.history.accuse(refusals.last ?? "I-5: no such zone") }
        if !tells, let zone = world.history.livingZone(zoneName),
            sharing.hasHadAccess(guest.user, to: zone.id, since: askedAt)
        {
            world.history.accuse("R-317: an edit did not find zone \(zoneName), which was shared before it was sent")
        }
        for case .failed(let failure) in outcome.saves {
            guard let record = failure.serverRecord, let zone = failure.serverZone else { continue }
            judgeSight([record], in: zone, askedAt: askedAt, "a conflict")
        }
    }

    /// After the request that ends it was answered, the access of that time is over.
    private func judgeEnd(of guest: Identity, in zone: ZoneID, askedAt: Int, _ what: String) {
        if world.sharing?.hasHadAccess(guest.user, to: zone, since: askedAt) == true {
            world.history.accuse("R-328: \(what), but a guest has access as before")
        }
    }

    /// What a guest's list must say of a living zone after a fetch.
    ///
    /// - Returns: whether the device must have what the zone had then.
    func judgeAccess(to zone: History.Zone, _ view: ZoneView?, askedAt: Int) -> Bool {
        guard let guest, let sharing = world.sharing else { return true }
        if sharing.hasHadNoAccess(guest.user, to: zone.id, since: askedAt), view?.zone == zone.id {
            world.history.accuse("R-328: the end of access to zone \(zone.name) was skipped")
        }
        return sharing.hasHadAccess(guest.user, to: zone.id, since: askedAt)
    }

    /// An edit that is refused for want of a right never comes to be.
    ///
    /// - Parameter before: the zone when the edit was sent. Only if it still lives, it was this one that refused.
    func noteRefusal(of text: String, _ reason: FailureReason, before: History.Zone?) {
        guard guest != nil, reason == .notPermitted || reason == .createNotPermitted,
            let zone = before, world.history.livingZone(zone.name)?.id == zone.id
        else { return }
        world.sharing?.noteRefusal(of: text, in: zone.id)
    }
}

extension SaveOutcome {
    fileprivate var saysNothing: Bool {
        if case .failed(let failure) = self { failure.reason == .zoneNotFound } else { false }
    }
}

extension DeleteOutcome {
    fileprivate var saysNothing: Bool {
        if case .failed(let failure) = self { failure.reason == .zoneNotFound } else { false }
    }
}
