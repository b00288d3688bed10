// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkFields
internal import TidemarkService

/// The records that participants of shared hierarchies see, as in PostgreSQL's `share_record`.
struct MemoryShareRecords {
    private struct Key: Hashable {
        let share: ShareNumber
        let name: String
    }

    private var rows: [ZoneID: [Key: ShareRecord]] = [:]

    /// - Returns: the number up to which tokens are expired, because their changes were forgotten; 0: none are.
    mutating func write(_ changes: ZoneChanges) -> ChangeNumber {
        for row in changes.shareRecords {
            rows[changes.zone, default: [:]][Key(share: row.share, name: row.name)] = row
        }
        var forgotten: ChangeNumber = 0
        for name in changes.recordsWithNewRows {
            let newestFirst = (rows[changes.zone] ?? [:]).values.filter { $0.name == name }
                .sorted { ($0.number, $1.hasLeft ? 1 : 0) > ($1.number, $0.hasLeft ? 1 : 0) }
            for row in newestFirst.dropFirst(ShareRecord.rowsMax) {
                rows[changes.zone]?[Key(share: row.share, name: name)] = nil
                if row.hasLeft { forgotten = max(forgotten, row.number) }
            }
        }
        return forgotten
    }

    mutating func forget(_ zone: ZoneID) { rows[zone] = nil }

    mutating func forget(_ shares: [ShareNumber], of zone: ZoneID) {
        guard !shares.isEmpty, rows[zone] != nil else { return }
        rows[zone] = rows[zone]?.filter { !shares.contains($0.key.share) }
    }

    /// Forgets what no token needs: rows of shares that have ended, and those that have left theirs up to a number.
    mutating func compact(_ zone: ZoneID, through number: ChangeNumber, living: [ShareNumber]) {
        rows[zone] = rows[zone]?.filter { key, row in
            living.contains(key.share) && !(row.hasLeft && row.number <= number)
        }
    }

    /// The living share that covers a record.
    func cover(of name: String, in zone: ZoneID, among living: [ShareNumber]) -> CoveredRecord? {
        for share in living {
            guard let row = rows[zone]?[Key(share: share, name: name)], !row.hasLeft else { continue }
            return CoveredRecord(share: share, enteredNumber: row.enteredNumber)
        }
        return nil
    }

    /// The records that some shares cover.
    func names(in zone: ZoneID, coveredBy shares: [ShareNumber]) -> Set<String> {
        Set((rows[zone] ?? [:]).values.filter { !$0.hasLeft && shares.contains($0.share) }.map(\.name))
    }

    /// A page of what a user sees of hierarchies, with at least one event if there is one.
    func read(
        _ page: inout ZonePageRead, of zone: MemoryZone, seenThrough shares: [ShareNumber], _ query: ZonePageQuery
    ) {
        let id = zone.state.id
        guard query.after == nil || query.after?.zone == id else { return }
        let start = query.after?.number ?? 0
        let visible = names(in: id, coveredBy: shares)
        let happened = (rows[id] ?? [:]).values.filter { row in
            shares.contains(row.share) && row.number > start
        }
        var byteCount = 0
        // If two rows have one number, the row that covers the record comes first, as in PostgreSQL.
        for row in happened.sorted(by: { ($0.number, $0.hasLeft ? 1 : 0) < ($1.number, $1.hasLeft ? 1 : 0) }) {
            guard page.events.count < query.recordsMax, byteCount < query.bytesMax else {
                page.hasMore = true
                return
            }
            let record = row.hasLeft ? nil : zone.record(row.name)?.covered(by: row.share)
            byteCount += record?.fields.byteCount ?? 0
            let isElsewhere = row.hasLeft && visible.contains(row.name)
            page.events.append(HierarchyEvent(row: row, record: record, isElsewhere: isElsewhere))
        }
    }
}

extension MemoryTables {
    /// Adds the data that a transaction reads in a zone with shared hierarchies.
    func complete(_ snapshot: inout ZoneSnapshot, _ read: ZoneRead, _ zone: MemoryZone) {
        let id = zone.state.id
        if snapshot.sharing == nil { snapshot.sharing = sharing(of: id, .access(of: [])) }
        for name in snapshot.recordsOfShares(for: read) { snapshot.records[name] = zone.record(name) }
        let living = snapshot.sharing?.hierarchies.map(\.number) ?? []
        var hierarchies = ZoneHierarchies()
        let moved = snapshot.movedNames(for: read)
        for name in Set(snapshot.records.keys).union(moved) {
            hierarchies.covers[name] = shareRecords.cover(of: name, in: id, among: living)
        }
        var waiting = moved
        var seen: Set<String> = []
        while !waiting.isEmpty, !hierarchies.isCut {
            let parents = Set(waiting.filter { seen.insert($0).inserted })
            waiting = []
            for (parent, children) in zone.children(of: parents).sorted(by: { $0.key < $1.key }) {
                for name in children {
                    guard hierarchies.below.count < min(read.belowMax, read.relativesMax) else {
                        hierarchies.isCut = true
                        break
                    }
                    let cover = shareRecords.cover(of: name, in: id, among: living)
                    let type = zone.record(name)?.type ?? ""
                    hierarchies.below.append(RecordBelow(name: name, type: type, parent: parent, cover: cover))
                    waiting.append(name)
                }
            }
        }
        snapshot.hierarchies = hierarchies
        snapshot.cover()
    }
}
