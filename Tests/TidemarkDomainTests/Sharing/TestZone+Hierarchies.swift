// SPDX-License-Identifier: Apache-2.0

import TidemarkDomain
import TidemarkFields

/// A first save of the CKShare record of a hierarchy, or one with its tag.
func hierarchySave(
    _ name: String, root: String?, tag: ChangeTag? = nil, public permission: SharePermission? = nil,
    _ participants: [ParticipantSave]? = nil
) -> RecordSave {
    RecordSave(
        name: name, type: Share.recordType, tag: tag, fields: FieldMap(), parent: .unchanged,
        share: ShareSave(
            recordName: name, rootName: root, tag: tag, publicPermission: permission, participants: participants),
        freshSecret: Array(name.utf8))
}

/// A zone of Alice's, of which hierarchies are shared.
extension TestZone {
    static func ofHierarchies() -> TestZone { TestZone() }

    // MARK: What a store does

    /// The living share of a hierarchy that covers the record.
    func cover(of name: String) -> CoveredRecord? {
        for share in sharing.hierarchies {
            guard let row = shareRecords[share.number]?[name], !row.hasLeft else { continue }
            return CoveredRecord(share: share.number, enteredNumber: row.enteredNumber)
        }
        return nil
    }

    func complete(_ snapshot: inout ZoneSnapshot, _ read: ZoneRead) {
        if snapshot.sharing == nil { snapshot.sharing = sharing.part(.access(of: [])) }
        for name in snapshot.recordsOfShares(for: read) { snapshot.records[name] = records[name] }
        var hierarchies = ZoneHierarchies()
        var waiting = snapshot.movedNames(for: read)
        for name in Set(snapshot.records.keys).union(waiting) { hierarchies.covers[name] = cover(of: name) }
        var seen = Set(waiting)
        while let parent = waiting.popLast() {
            for child in records.values where child.parent == parent && !child.isDeleted {
                hierarchies.below.append(
                    RecordBelow(name: child.name, type: child.type, parent: parent, cover: cover(of: child.name)))
                if seen.insert(child.name).inserted { waiting.append(child.name) }
            }
        }
        if hierarchies.below.count > limits.shareSubtreeMax {
            hierarchies.isCut = true
            hierarchies.below.removeLast(hierarchies.below.count - limits.shareSubtreeMax)
        }
        snapshot.hierarchies = hierarchies
        snapshot.cover()
    }

    /// A page of what a user sees, read as the service does it.
    func page(
        for user: UserID, after token: [UInt8] = [], limit: Int = 0, tellsEnds: Bool = false
    ) -> Result<ZonePage, FailureReason> {
        let reader = RecordAccess(scope: .shared, user: user)
        return ZonePageQuery.make(
            key: key, token: token, limit: limit, device: laptop, tellsEnds: tellsEnds, reader: reader, store: store,
            limits: limits
        ).flatMap { query in
            var query = query
            var read = events(query)
            while let corrected = query.corrected(by: read) {
                query = corrected
                read = events(query)
            }
            return ZonePage.make(of: read, for: query, store: store)
        }
    }

    private func events(_ query: ZonePageQuery) -> ZonePageRead {
        var read = self.read(query)
        guard let shares = query.hierarchies else { return read }
        read.records = []
        let rows = shares.flatMap { Array((shareRecords[$0] ?? [:]).values) }
        let visible = Set(rows.filter { !$0.hasLeft }.map(\.name))
        let happened = rows.filter { $0.number > query.after?.number ?? 0 }
            .sorted { ($0.number, $0.hasLeft ? 1 : 0) < ($1.number, $1.hasLeft ? 1 : 0) }
        read.events = happened.prefix(query.recordsMax).map { row in
            HierarchyEvent(
                row: row, record: row.hasLeft ? nil : records[row.name]?.covered(by: row.share),
                isElsewhere: row.hasLeft && visible.contains(row.name))
        }
        read.hasMore = happened.count > query.recordsMax
        return read
    }

    // MARK: Asking

    /// The owner shares a hierarchy with some people, who accept.
    @discardableResult
    mutating func share(_ root: String, as name: String, with users: UserID...) -> [FailureReason?]? {
        let reasons = ask(
            alice, hierarchySave(name, root: root, users.map { guest($0) }), saveAgain(root),
            policy: .changedKeys)
        for user in users { accept(user, shareNamed: name) }
        return reasons
    }

    /// The owner invites somebody to a hierarchy that is shared already, beside those who take part.
    mutating func share(with user: UserID, again name: String) {
        let others = sharing.livingShare(named: name).flatMap { sharing.participants[$0.number] } ?? [:]
        let saves = others.values.filter(\.isLiving).map { ParticipantSave(id: $0.id, permission: $0.permission) }
        ask(alice, hierarchySave(name, root: nil, tag: tag(name), saves + [guest(user)]))
    }

    mutating func accept(_ user: UserID, shareNamed name: String) {
        let visitor = ShareVisitor(user: user, shareName: name)
        act(.accept(visitor, as: ParticipantID(high: 8, low: UInt64(user.rawValue))))
    }

    /// A save that changes nothing.
    func saveAgain(_ name: String, parent: ParentChange = .unchanged) -> RecordSave {
        RecordSave(
            name: name, type: records[name]?.type ?? "Item", tag: tag(name), fields: FieldMap(), parent: parent)
    }

    /// What a user may do with a record now.
    func permissions(of user: UserID, on name: String) -> Permissions {
        guard let record = living(name) else { return [] }
        let place = RecordPlace(type: record.type, creator: record.createdBy, share: cover(of: name)?.share)
        return ShareAccess(of: user, in: sharing).permission(on: place)
    }

    // MARK: The naive model

    /// The root of the living share that covers a record: the nearest one above it, or itself.
    func rootByWalking(_ name: String) -> String? {
        let roots = sharing.rootShareNames
        if let share = sharing.hierarchies.first(where: { $0.recordName == name }) { return share.rootName }
        var (next, seen): (String?, Set<String>) = (name, [])
        while let current = next, seen.insert(current).inserted, let record = living(current) {
            if roots[current] != nil { return current }
            next = record.parent
        }
        return nil
    }

    /// Every record whose stored cover is not what the model says.
    var wronglyCovered: [String] {
        records.values.filter { record in
            let root = record.isDeleted ? nil : rootByWalking(record.name)
            return cover(of: record.name)?.share != root.flatMap { sharing.hierarchy(rootNamed: $0)?.number }
        }.map(\.name).sorted()
    }
}
