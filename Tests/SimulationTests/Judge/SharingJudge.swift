// SPDX-License-Identifier: Apache-2.0

import TidemarkDomain
import TidemarkTestKit

/// Who has had access to which zone, by the commits as the database saw them. It reads the rows of shares in its own way
/// and asks no rule of the server.
struct SharingJudge {
    /// While a user had access: in change numbers of the zone, and in commits of the history.
    struct Span {
        let begin: ChangeNumber
        let beganAt: Int
        /// The first number that is outside. Nil while it lasts, and if the zone ended first.
        var end: ChangeNumber?
        var endedAt: Int?
        var permission: SharePermission

        /// The same, over by that moment at the latest.
        fileprivate func ended(at length: Int) -> Span {
            var span = self
            span.endedAt = endedAt ?? length
            return span
        }

        /// Whether an answer to a request of that moment may have something of this change.
        func allows(_ number: ChangeNumber, askedAt: Int) -> Bool {
            (endedAt ?? .max) > askedAt && number < (end ?? .max)
        }
    }

    /// What the rows of a zone say.
    private struct Rows {
        var share: Share?
        var participants: [ParticipantID: Participant] = [:]

        /// Nil: no access.
        func permission(of user: UserID) -> SharePermission? {
            guard let share else { return nil }
            let row = participants.values.first { $0.user == user && $0.status == .accepted }
            guard let row else { return nil }
            let permission = row.role == .publicUser ? share.publicPermission : row.permission
            return permission == .noAccess ? nil : permission
        }

        mutating func apply(_ change: SharingChanges) {
            if let changed = change.insertedShare ?? change.updatedShare {
                share = changed.endedNumber == nil ? changed : nil
                if change.insertedShare != nil { participants = [:] }
            }
            for id in change.forgotten { participants[id] = nil }
            for row in change.updated + change.ended + change.inserted { participants[row.id] = row }
        }
    }

    /// Who may be let in. All others in the history are the owner.
    let guests: [UserID]
    private var rows: [ZoneID: Rows] = [:]
    private var spans: [ZoneID: [UserID: [Span]]] = [:]
    private var secrets: [ZoneID: [UInt8]] = [:]
    /// Edits that were refused to somebody who may only read, by their texts.
    private var refusedEdits: [(text: String, zone: ZoneID)] = []

    init(guests: [UserID]) {
        self.guests = guests
    }

    // MARK: What happens

    /// - Parameter length: of the history with this commit.
    /// - Returns: what is wrong with it.
    mutating func record(_ commit: MemoryCommit, at length: Int) -> [String] {
        switch commit {
        case .zoneCreated: return []
        case .zoneEnded(let zone):
            rows[zone.id] = nil
            for user in guests { endSpan(of: user, in: zone.id, at: length, number: nil) }
            return []
        case .records(let changes): return record(changes, at: length)
        }
    }

    private mutating func record(_ changes: ZoneChanges, at length: Int) -> [String] {
        var violations: [String] = []
        var rest = changes.sharing.sorted { $0.number < $1.number }[...]
        for record in changes.records {
            // A change of the share is before what was decided after it.
            while let next = rest.first, next.number <= record.changeNumber {
                apply(next, in: changes.zone, at: length)
                rest.removeFirst()
            }
            if let violation = refusal(toWrite: record, in: changes.zone) { violations.append(violation) }
        }
        for change in rest { apply(change, in: changes.zone, at: length) }
        let shareNumber = changes.records.first { $0.name == Share.zoneWideName }?.changeNumber ?? 0
        if let last = changes.sharing.map(\.number).max(), last > shareNumber {
            violations.append("R-224: shares changed at \(last), and their record has no version of it")
        }
        return violations
    }

    private mutating func apply(_ change: SharingChanges, in zone: ZoneID, at length: Int) {
        rows[zone, default: Rows()].apply(change)
        if let secret = change.insertedSecret { secrets[zone] = secret }
        for user in guests {
            guard let permission = rows[zone]?.permission(of: user) else {
                endSpan(of: user, in: zone, at: length, number: change.number)
                continue
            }
            var known = spans[zone]?[user] ?? []
            if known.last?.endedAt == nil, !known.isEmpty {
                known[known.count - 1].permission = permission
            } else {
                known.append(Span(begin: change.number, beganAt: length, permission: permission))
            }
            spans[zone, default: [:]][user] = known
        }
    }

    private mutating func endSpan(of user: UserID, in zone: ZoneID, at length: Int, number: ChangeNumber?) {
        guard var known = spans[zone]?[user], let last = known.indices.last, known[last].endedAt == nil else { return }
        (known[last].end, known[last].endedAt) = (number, length)
        spans[zone]?[user] = known
    }

    /// I-5: who writes may write at that very change.
    private func refusal(toWrite record: RecordState, in zone: ZoneID) -> String? {
        // Who accepts and who leaves makes a version of the share's record.
        guard record.type != Share.recordType, guests.contains(record.modifiedBy) else { return nil }
        if rows[zone]?.permission(of: record.modifiedBy) == .readWrite { return nil }
        return "I-5: \(record.name) at \(record.changeNumber) was written by who may not write"
    }

    /// The store is what it was then, and so is access. What was asked of the life that is over is judged by what was so
    /// in it.
    mutating func goBack(to backup: SharingJudge, at length: Int) {
        let lost = spans
        self = backup
        spans = lost.mapValues { users in users.mapValues { known in known.map { $0.ended(at: length) } } }
        for (zone, rows) in rows {
            for user in guests {
                guard let permission = rows.permission(of: user) else { continue }
                let span = Span(begin: 0, beganAt: length, permission: permission)
                spans[zone, default: [:]][user, default: []].append(span)
            }
        }
    }

    mutating func noteRefusal(of text: String, in zone: ZoneID) {
        refusedEdits.append((text, zone))
    }

    // MARK: What may be told

    func isShared(_ zone: ZoneID) -> Bool { rows[zone]?.share != nil }

    /// The number of the living share.
    func livingShare(in zone: ZoneID) -> ShareNumber? { rows[zone]?.share?.number }

    /// What the zone's link has; it is known to all.
    func secret(of zone: ZoneID) -> [UInt8]? { secrets[zone] }

    /// Nil if a user may have been told of this change.
    ///
    /// - Parameters:
    ///   - number: 0: of anything at all.
    ///   - askedAt: the history's length when the request was sent.
    func refusal(of number: ChangeNumber, in zone: ZoneID, to user: UserID, askedAt: Int, _ what: String) -> String? {
        let known = spans[zone]?[user] ?? []
        if known.contains(where: { $0.allows(number, askedAt: askedAt) }) { return nil }
        return "I-5: \(what) tells of change \(number) of zone \(zone.rawValue), which is not shared with the reader"
    }

    func everHadAccess(_ user: UserID, to zone: ZoneID) -> Bool { spans[zone]?[user]?.isEmpty == false }

    func hasAccess(_ user: UserID, to zone: ZoneID) -> Bool { openSpan(of: user, in: zone) != nil }

    /// Whether the access that the user has now was there at that moment already.
    func hasHadAccess(_ user: UserID, to zone: ZoneID, since length: Int) -> Bool {
        openSpan(of: user, in: zone).map { $0.beganAt <= length } ?? false
    }

    /// Whether access of the user began after one moment, and not later than the other.
    func hasBegunAccess(_ user: UserID, to zone: ZoneID, after earlier: Int, by later: Int) -> Bool {
        (spans[zone]?[user] ?? []).contains { $0.beganAt > earlier && $0.beganAt <= later }
    }

    /// Whether the user has had no access at any time since that moment.
    func hasHadNoAccess(_ user: UserID, to zone: ZoneID, since length: Int) -> Bool {
        (spans[zone]?[user] ?? []).allSatisfy { $0.endedAt.map { $0 <= length } ?? false }
    }

    private func openSpan(of user: UserID, in zone: ZoneID) -> Span? {
        spans[zone]?[user]?.last.flatMap { $0.endedAt == nil ? $0 : nil }
    }

    /// Edits that were refused and are there all the same.
    func writtenThoughRefused(in history: History) -> [String] {
        refusedEdits.filter { history.wasWritten($0.text, in: $0.zone) }
            .map { "I-1: refused, but written: \($0.text)" }
    }
}
