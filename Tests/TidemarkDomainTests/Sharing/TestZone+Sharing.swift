// SPDX-License-Identifier: Apache-2.0

import TidemarkDomain
import TidemarkFields

extension ZoneSharing {
    /// What a store reads of it.
    func part(_ read: SharingRead) -> ZoneSharing? {
        switch read {
        case .nothing: nil
        case .whole, .shown, .linked: self
        case .people(let choice, let users): choice.isEvery ? self : people(of: choice, and: users)
        case .access(let users):
            ZoneSharing(
                owner: owner, shares: Array(shares.values),
                participants: participants.mapValues { rows in
                    rows.values.filter { row in row.user.map(users.contains) ?? false }
                }, isWhole: false)
        }
    }

    /// All people of the shares with these names, and these users' rows of the others.
    private func people(of choice: ShareChoice, and users: [UserID]) -> ZoneSharing {
        let chosen = Set(livingShares.filter { choice.has($0, linkHash: nil) }.map(\.number))
        var rows: [ShareNumber: [Participant]] = [:]
        for (number, people) in participants {
            rows[number] = people.values.filter { row in
                chosen.contains(number) || row.user.map(users.contains) ?? false
            }
        }
        return ZoneSharing(
            owner: owner, shares: Array(shares.values), participants: rows,
            requests: requests.filter { chosen.contains($0.key) }.mapValues { Array($0.values) }, secret: secret,
            isWhole: false, wholeShares: chosen)
    }
}

/// A save of the CKShare record of a zone.
func shareSave(
    tag: ChangeTag? = nil, public permission: SharePermission? = nil, _ participants: [ParticipantSave]? = nil,
    fields: FieldMap = FieldMap(), parent: ParentChange = .unchanged, name: String = Share.zoneWideName,
    type: String = Share.recordType, secret: [UInt8] = [1, 2, 3]
) -> RecordSave {
    RecordSave(
        name: name, type: type, tag: tag, fields: fields, parent: parent,
        share: ShareSave(recordName: name, tag: tag, publicPermission: permission, participants: participants),
        freshSecret: secret)
}

/// An invitation of a user by name. Its ID is the user's number, so it is the same in each save.
func guest(
    _ user: UserID, _ permission: SharePermission = .readWrite, _ role: ParticipantRole = .privateUser
) -> ParticipantSave {
    ParticipantSave(
        id: ParticipantID(high: 9, low: UInt64(user.rawValue)), person: .user(user), role: role,
        permission: permission)
}

/// Alice's zone, as she sees it in her private database, and the others in their shared databases.
extension TestZone {
    static func access(_ user: UserID) -> RecordAccess {
        user == alice ? .owner(alice) : RecordAccess(scope: .shared, user: user)
    }

    mutating func asked(
        by user: UserID, _ saves: [RecordSave] = [], deleting deletes: [String] = [],
        policy: SavePolicy = .ifServerRecordUnchanged, atomic: Bool = false, in scope: DatabaseScope? = nil
    ) -> RecordsRequest {
        let request = request(saves: saves, deletes: deletes, policy: policy, atomic: atomic, user: user)
        let access = scope.map { RecordAccess(scope: $0, user: user) } ?? Self.access(user)
        return RecordsRequest(
            id: request.id, key: key, saves: saves, deletes: deletes, policy: policy, isAtomic: atomic, user: user,
            access: access)
    }

    /// The reasons of all items; nil for one that succeeded.
    @discardableResult
    mutating func ask(
        _ user: UserID, _ saves: RecordSave..., deleting deletes: [String] = [],
        policy: SavePolicy = .ifServerRecordUnchanged, atomic: Bool = false
    ) -> [FailureReason?]? {
        run(asked(by: user, saves, deleting: deletes, policy: policy, atomic: atomic)).reasons
    }

    /// The owner saves the CKShare record with its current tag.
    @discardableResult
    mutating func share(
        public permission: SharePermission? = nil, with participants: [ParticipantSave]? = nil, by user: UserID = alice
    ) -> [FailureReason?]? {
        ask(user, shareSave(tag: livingShareTag, public: permission, participants))
    }

    /// The tag of the living CKShare record.
    var livingShareTag: ChangeTag? { living(Share.zoneWideName).flatMap { tag($0.name) } }

    @discardableResult
    mutating func act(_ action: ShareAction, now: Timestamp = 1_000) -> Result<ShareActionPlan, FailureReason> {
        let snapshot = snapshot(for: action.read(of: key))
        let plan = action.plan(on: snapshot, store: store, now: now, limits: limits)
        if let changes = try? plan.get().changes { commit(changes) }
        return plan
    }

    @discardableResult
    mutating func accept(_ user: UserID, hasURL: Bool = false) -> FailureReason? {
        let id = ParticipantID(high: 8, low: UInt64(user.rawValue))
        let visitor = ShareVisitor(user: user, secret: hasURL ? sharing.secret ?? [] : nil)
        if case .failure(let reason) = act(.accept(visitor, as: id)) { return reason }
        return nil
    }

    mutating func delete(for removal: ZoneRemovalReason) {
        zone = nil
        lastRemoval = removal
        sharing = ZoneSharing(owner: alice)
    }

    // MARK: What somebody is given

    func permission(_ user: UserID, type: String = "Item") -> Permissions {
        ShareAccess(of: user, in: sharing).permission(on: RecordPlace(type: type, creator: alice))
    }

    func page(
        by user: UserID, after token: [UInt8] = [], records: Int = 100
    ) -> Result<ZonePage, FailureReason> {
        let access = Self.access(user)
        return ZonePageQuery.make(
            key: key, token: token, limit: records, device: phone, tellsEnds: true, reader: access.unlessOwner,
            store: store, limits: limits
        ).flatMap { query in ZonePage.make(of: read(query), for: query, store: store) }
    }

    func found(_ names: String..., by user: UserID) -> [Result<RecordState, FailureReason>] {
        let access = Self.access(user)
        var snapshot = ZoneSnapshot(key: key, zone: zone, lastRemoval: lastRemoval, records: records)
        if zone != nil { snapshot.sharing = sharing.part(SharingRead(for: access)) }
        return snapshot.lookUp(names, by: access, within: limits)
    }

    func queried(_ type: String = "Item", by user: UserID, isTypeKnown: Bool = true) -> Result<QueryPage, QueryRefusal>
    {
        let access = Self.access(user)
        let asked = Query(recordType: type, zoneName: key.name)
        guard let query = access.narrowing(asked) else { return .failure(QueryRefusal(.recordTypeUnknown)) }
        let page = QueryPageQuery(
            database: key.database, query: query, recordsMax: 100, bytesMax: 1_000_000,
            sharing: SharingRead(for: access))
        let living = records.values.filter { !$0.isDeleted && $0.type == type }.sorted { $0.name < $1.name }
        var read = QueryPageRead(
            isZoneFound: zone != nil, lastRemoval: lastRemoval,
            matches: zone.map { zone in
                living.map { QueryMatch(zone: zone.id, zoneName: key.name, record: $0) }
            } ?? [])
        read.sharing = zone == nil ? nil : sharing.part(page.sharing)
        return QueryPage.make(
            of: read, for: page, by: access, store: store, isTypeKnown: isTypeKnown)
    }

    /// The keys of the zone, which are one.
    func keys(for user: UserID) -> Result<[WrappedZoneKey], FailureReason> {
        var read = ZoneKeysRead(
            keys: zone == nil ? nil : [WrappedZoneKey(id: [1], accountKeyID: [2], wrapped: [3])],
            lastRemoval: lastRemoval)
        let access = Self.access(user)
        read.sharing = zone == nil ? nil : sharing.part(SharingRead(for: access))
        return read.outcome(for: access)
    }
}
