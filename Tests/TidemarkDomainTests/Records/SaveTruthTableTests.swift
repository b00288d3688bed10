// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkFields

/// Section 5 of the rules: every policy with every tag on every state of the server.
@Suite struct SaveTruthTableTests {
    enum Tag: CaseIterable {
        case none, equal, older, ahead, otherIncarnationOfZone, otherStore, foreign
    }

    enum Server: CaseIterable {
        case neverExisted, deleted, present
    }

    enum Result: Equatable {
        case created, updated
        case refused(FailureReason)
    }

    /// The table, in the words of the rules: no tag, the current tag, or any other.
    static let table: [(rules: String, policy: SavePolicy, tag: [Tag], server: [Server], result: Result)] = {
        let any = Tag.allCases
        let some = any.filter { $0 != .none }
        let wrong = some.filter { $0 != .equal }
        let absent: [Server] = [.neverExisted, .deleted]
        return [
            ("R-090", .ifServerRecordUnchanged, [.none], [.neverExisted], .created),
            ("R-091", .ifServerRecordUnchanged, [.none], [.deleted], .created),
            ("R-092", .ifServerRecordUnchanged, [.none], [.present], .refused(.recordExists)),
            ("R-093", .ifServerRecordUnchanged, [.equal], [.present], .updated),
            ("R-094", .ifServerRecordUnchanged, wrong, [.present], .refused(.recordChanged)),
            ("R-095 R-096", .ifServerRecordUnchanged, some, absent, .refused(.recordMissing)),
            ("R-097", .changedKeys, [.none], absent, .created),
            ("R-098", .changedKeys, [.none], [.present], .updated),
            ("R-099", .changedKeys, some, [.present], .updated),
            ("R-100", .changedKeys, some, absent, .created),
            ("R-101", .allKeys, [.none], absent, .created),
            ("R-102", .allKeys, [.none], [.present], .updated),
            ("R-103", .allKeys, some, [.present], .updated),
            ("R-104", .allKeys, some, absent, .created),
        ]
    }()

    @Test func `R-090 … R-104: the truth table of saving`() {
        var cells = 0
        for row in Self.table {
            for tag in row.tag {
                for server in row.server {
                    check(row.policy, tag, server, row.result, "\(row.rules) \(row.policy) \(tag) \(server)")
                    cells += 1
                }
            }
        }
        #expect(cells == SavePolicy.allCases.count * Tag.allCases.count * Server.allCases.count)
    }

    private func check(
        _ policy: SavePolicy, _ tag: Tag, _ server: Server, _ expected: Result, _ comment: Comment
    ) {
        var zone = zone(server)
        let before = zone
        let old = zone.records["r"]
        let sent = save("r", tag: make(tag, in: zone), fields(["b": 20, "c": nil, "d": 4]))
        let outcome = zone.save(sent, policy: policy, device: laptop, user: bob, now: 500).saves.first
        switch expected {
        case .created:
            let record = zone.living("r")
            #expect(record?.fields == fields(["b": 20, "d": 4]), comment)
            #expect(record?.createdBy == bob && record?.createdByDevice == laptop, comment)
            // a new creation date, later than anything that was there.
            #expect(record?.createdAt == record?.modifiedAt, comment)
            if let old, let record { #expect(record.createdAt > old.modifiedAt, comment) }
        case .updated:
            let record = zone.living("r")
            #expect(record?.fields == fields(["a": 1, "b": 20, "d": 4]), comment)
            #expect(record?.createdBy == alice && record?.createdAt == old?.createdAt, comment)
            #expect(record?.modifiedBy == bob, comment)
        case .refused(let reason):
            #expect(outcome?.reason == reason, comment)
            // nothing is half applied. R-111: the record in the way comes along, complete.
            #expect(zone.records == before.records && zone.zone == before.zone, comment)
            #expect(outcome?.failure?.serverRecord == (reason.isConflict ? old : nil), comment)
            #expect(outcome?.failure?.serverZone == (reason.isConflict ? zone.zone?.id : nil), comment)
            return
        }
        let record = zone.records["r"]
        #expect(zone.zone?.changeNumber == (before.zone?.changeNumber ?? 0) + 1, comment)
        #expect(record?.changeNumber == zone.zone?.changeNumber, comment)
        let metadata = zone.zone.flatMap { state in record.map { RecordMetadata(of: $0, in: state.id) } }
        #expect(outcome?.metadata == metadata, comment)
        if let old, let record { #expect(record.modifiedAt > old.modifiedAt, comment) }
    }

    private func zone(_ server: Server) -> TestZone {
        var zone = TestZone()
        zone.save(save("other"), now: 900)
        if server == .neverExisted { return zone }
        zone.save(save("r", fields(["a": 1])), now: 1_000)
        zone.save(save("r", fields(["b": 2, "c": 3])), policy: .changedKeys, now: 1_001)
        if server == .deleted { zone.delete("r", now: 1_002) }
        return zone
    }

    private func make(_ tag: Tag, in zone: TestZone) -> ChangeTag? {
        guard let state = zone.zone else { return nil }
        let current = zone.records["r"]?.changeNumber ?? 1
        func version(_ number: ChangeNumber, zone: ZoneID = state.id, store: StoreIncarnation = store) -> ChangeTag {
            .version(store: store, zone: zone, number: number)
        }
        return switch tag {
        case .none: nil
        case .equal: version(current)
        case .older: version(current - 1)
        case .ahead: version(state.changeNumber + 100)
        case .otherIncarnationOfZone: version(current, zone: ZoneID(state.id.rawValue - 1))
        case .otherStore: version(current, store: StoreIncarnation(store.rawValue + 1))
        case .foreign: .foreign
        }
    }

    @Test(
        arguments: [
            (nil, FailureReason.zoneNotFound), (.deleted, .zoneNotFound), (.purged, .zonePurged),
            (.encryptedDataReset, .zoneKeysReset),
        ] as [(ZoneRemovalReason?, FailureReason)])
    func `R-028, R-105, R-106, R-107, R-132: a missing zone fails every item, whatever policy and tag`(
        removal: ZoneRemovalReason?, reason: FailureReason
    ) {
        for policy in SavePolicy.allCases {
            for tag in [nil, ChangeTag.foreign, .version(store: store, zone: ZoneID(70), number: 1)] {
                for atomic in [false, true] {
                    var zone = TestZone(exists: false, lastRemoval: removal)
                    let request = zone.request(
                        saves: [save("r", tag: tag), save("_bad")], deletes: ["x"], policy: policy, atomic: atomic)
                    let read = request.read(in: database)
                    var overlay = ZoneOverlay(snapshot: zone.snapshot(for: read), store: store, limits: Limits())
                    #expect(overlay.apply(request, now: 1).reasons == [reason, reason, reason])
                    #expect(overlay.changes == nil)
                    #expect(overlay.movedBy.isEmpty)
                }
            }
        }
    }
}
