// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import Testing
import TidemarkDomain
import TidemarkFields
import TidemarkServer
import TidemarkStore
import TidemarkTestSupport
import TidemarkTranslation
import TidemarkWire

/// The truth table of saving through a real server: TLS, WebSocket, protobuf, PostgreSQL. Every cell is a record of its
/// own, and hundreds go in one request.
@Suite struct SaveTruthTableTests {
    private typealias Cell = SaveTruthTable.Cell

    /// What a cell's record was before the save that is judged.
    private struct Prepared {
        var tag: [UInt8] = []
        var olderTag: [UInt8] = []
        var createdAt: Int64 = 0
        var modifiedAt: Int64 = 0
    }

    @Test
    func
        `R-006 … R-010, R-028, R-054, R-090 … R-108, R-111, R-114, R-117: the truth table of saving on a real server`()
        async throws
    {
        try await withLiveWorld { world in
            try await world.withServer { server in
                let bob = try await world.enter(world.bob, device: 2, server: server)
                let alice = try await world.enter(world.alice, device: 1, server: server)
                let oldZone = try await world.makeTruthTableZones(by: bob)
                let cells = SaveTruthTable.cells.filter { $0.access.refusal == nil }
                var prepared: [Cell: Prepared] = [:]
                for (access, client) in [(SaveTruthTable.Access.otherUser, alice), (.creator, bob), (.owner, bob)] {
                    for policy in SavePolicy.allCases {
                        let mine = cells.filter {
                            $0.access == access && $0.policy == policy && $0.zone.lives && $0.server != .neverExisted
                        }
                        prepared.merge(try await prepare(mine, client)) { $1 }
                    }
                }
                let tags = try Tags(prepared.values.lazy.map(\.tag).first ?? [], oldZone: oldZone)
                for policy in SavePolicy.allCases {
                    for scope in [DatabaseScope.private, .public, .shared] {
                        let some = cells.filter { $0.policy == policy && $0.access.scope == scope }
                        try await judge(some, prepared, tags, bob)
                    }
                }
                try await judgeRefused(.nobody, world.enterAsNobody(server: server))
            }
        }
    }

    // MARK: Before

    /// Two versions of each record, then its end for those that are to be deleted.
    private func prepare(_ cells: [Cell], _ client: LiveClient) async throws -> [Cell: Prepared] {
        guard let scope = cells.first?.access.scope else { return [:] }
        var prepared: [Cell: Prepared] = [:]
        let first = try await send(cells, scope, .allKeys, client) { cell, save in
            save.fields = try Self.fields(["a": 1])
            save.type = cell.server == .presentWithAnotherType ? "Another" : "Item"
        }
        for (cell, result) in first { prepared[cell, default: Prepared()].olderTag = result.saved.tag }
        let second = try await send(cells, scope, .changedKeys, client) { cell, save in
            save.fields = try Self.fields(["b": 2, "c": 3])
            save.type = cell.server == .presentWithAnotherType ? "Another" : "Item"
        }
        for (cell, result) in second {
            prepared[cell]?.tag = result.saved.tag
            prepared[cell]?.createdAt = result.saved.createdAt
            prepared[cell]?.modifiedAt = result.saved.modifiedAt
        }
        var request = client.request(scope, .allKeys)
        request.zones = Dictionary(grouping: cells.filter { $0.server == .deleted }, by: \.zone).map { zone, cells in
            var part = WireZoneModifications()
            part.zone = TestClient.zone(zone.rawValue)
            part.deletes = cells.map(\.recordName)
            return part
        }
        let deleted = try await client.ask(.modifyRecords(request)).modifyRecords.zones.flatMap(\.deletes)
        #expect(deleted.allSatisfy { $0.failure.code == .unspecified } && !deleted.isEmpty)
        return prepared
    }

    /// Tags as the table names them.
    private struct Tags {
        private let store: StoreIncarnation
        private let oldZone: ZoneID

        init(_ some: [UInt8], oldZone: [UInt8]) throws {
            guard case .version(let store, _, _) = ChangeTag(bytes: Array(some)),
                case .version(_, let zone, _) = ChangeTag(bytes: Array(oldZone))
            else { throw LiveError("no tags") }
            self.store = store
            self.oldZone = zone
        }

        func make(_ tag: SaveTruthTable.Tag, of prepared: Prepared?) -> [UInt8] {
            var zone = oldZone
            var number: ChangeNumber = 1
            if case .version(_, let current, let newest)? = prepared.map({ ChangeTag(bytes: Array($0.tag)) }) {
                (zone, number) = (current, newest)
            }
            func version(_ store: StoreIncarnation, _ zone: ZoneID, _ number: ChangeNumber) -> [UInt8] {
                [UInt8](ChangeTag.version(store: store, zone: zone, number: number).bytes)
            }
            return switch tag {
            case .none: []
            case .equal: prepared?.tag ?? version(store, zone, number)
            case .older: prepared?.olderTag ?? version(store, zone, number - 1)
            case .ahead: version(store, zone, number + 1_000_000)
            case .otherIncarnationOfZone: version(store, ZoneID(oldZone.rawValue), number)
            case .otherStore: version(StoreIncarnation(store.rawValue &+ 1), zone, number)
            case .foreign: [UInt8]("not a tag".utf8)
            }
        }
    }

    // MARK: The save that is judged

    private func judge(
        _ cells: [Cell], _ prepared: [Cell: Prepared], _ tags: Tags, _ client: LiveClient
    ) async throws {
        guard let some = cells.first else { return }
        let scope = some.access.scope
        let results = try await send(cells, scope, some.policy, client) { cell, save in
            save.tag = tags.make(cell.tag, of: prepared[cell])
            save.fields = try Self.fields(cell.sent == .changes ? ["b": 20, "c": nil, "d": 4] : [:])
        }
        #expect(results.count == cells.count)
        let found = try await fetch(cells, scope, client)
        for cell in cells {
            let rule = try #require(SaveTruthTable.rule(for: cell))
            let result = try #require(results[cell])
            let comment: Comment = "\(rule.names): \(cell)"
            let before = prepared[cell]
            let record = found[cell]?.record ?? WireRecord()
            let fields = record.fields
            if case .saved(let saved)? = result.result {
                #expect(saved.hasRecord == cell.isBehind && !saved.mustFetch, comment)
                if cell.isBehind { #expect(saved.record == record, comment) }
            }
            switch rule.result {
            case .created:
                #expect(fields == (cell.sent == .changes ? Self.created : []), comment)
                #expect(record.tag == result.saved.tag && record.createdAt == record.modifiedAt, comment)
                #expect(record.createdBy.isEmpty && record.createdAt > before?.modifiedAt ?? 0, comment)
            case .updated:
                #expect(fields == Self.updated, comment)
                #expect(record.tag == result.saved.tag && record.tag != before?.tag, comment)
                #expect(record.createdAt == before?.createdAt, comment)
                #expect(record.modifiedAt > before?.modifiedAt ?? .max, comment)
            case .kept:
                #expect(fields == Self.before && record.tag == before?.tag, comment)
                #expect(record.createdAt == before?.createdAt && record.modifiedAt == before?.modifiedAt, comment)
                #expect(result.saved.tag == before?.tag && result.saved.modifiedAt == before?.modifiedAt, comment)
            case .refused(let reason):
                #expect(result.failure.failure.code == reason.wire().code, comment)
                #expect(result.failure.failure.message == reason.text, comment)
                // what is in the way, complete; and nothing else.
                #expect(result.failure.hasServerRecord == reason.isConflict, comment)
                if reason.isConflict { #expect(result.failure.serverRecord == record, comment) }
                //
                guard [.present, .presentWithAnotherType].contains(cell.server) else {
                    #expect(found[cell]?.failure.code != .unspecified, comment)
                    continue
                }
                #expect(record.tag == before?.tag, comment)
                #expect(fields == Self.before, comment)
            }
        }
    }

    private func judgeRefused(_ access: SaveTruthTable.Access, _ client: LiveClient) async throws {
        let reason = try #require(access.refusal)
        for policy in SavePolicy.allCases {
            let cells = SaveTruthTable.cells.filter { $0.access == access && $0.policy == policy }
            #expect(cells.allSatisfy { SaveTruthTable.rule(for: $0)?.result == .refused(reason) })
            var request = client.request(access.scope, policy)
            var part = WireZoneModifications()
            part.zone = TestClient.zone(cells[0].zone.rawValue)
            part.saves = try cells.map {
                var save = WireRecordSave()
                save.name = $0.recordName
                save.type = "Item"
                save.fields = try Self.fields(["b": 20])
                return save
            }
            request.zones = [part]
            #expect(try await client.ask(.modifyRecords(request)).failure.code == reason.wire().code)
        }
    }

    // MARK: Requests

    private static let before = try? fields(["a": 1, "b": 2, "c": 3])
    private static let created = try? fields(["b": 20, "d": 4])
    private static let updated = try? fields(["a": 1, "b": 20, "d": 4])

    private static func fields(_ pairs: KeyValuePairs<String, Int64?>) throws -> [UInt8] {
        [UInt8](try FieldMap(pairs.map { Field($0.key, $0.value.map(FieldValue.int64) ?? .removed) }).bytes)
    }

    private func send(
        _ cells: [Cell], _ scope: DatabaseScope, _ policy: SavePolicy, _ client: LiveClient,
        _ fill: (Cell, inout WireRecordSave) throws -> Void
    ) async throws -> [Cell: WireSaveResult] {
        let groups = Dictionary(grouping: cells, by: \.zone).sorted { $0.key.rawValue < $1.key.rawValue }
        var request = client.request(scope, policy)
        request.zones = try groups.map { zone, cells in
            var part = WireZoneModifications()
            part.zone = TestClient.zone(zone.rawValue)
            part.saves = try cells.map { cell in
                var save = WireRecordSave()
                save.name = cell.recordName
                save.type = "Item"
                try fill(cell, &save)
                return save
            }
            return part
        }
        let answer = try await client.ask(.modifyRecords(request))
        guard case .modifyRecords(let results)? = answer.answer else { throw LiveError("refused: \(answer)") }
        var all: [Cell: WireSaveResult] = [:]
        for ((_, cells), part) in zip(groups, results.zones) {
            for (cell, result) in zip(cells, part.saves) { all[cell] = result }
        }
        return all
    }

    private func fetch(
        _ cells: [Cell], _ scope: DatabaseScope, _ client: LiveClient
    ) async throws -> [Cell: WireRecordResult] {
        var request = WireFetchRecords()
        request.database = WireDatabaseScope(scope)
        let groups = Dictionary(grouping: cells, by: \.zone).sorted { $0.key.rawValue < $1.key.rawValue }
        request.zones = groups.map { zone, cells in
            var part = WireZoneRecordNames()
            part.zone = TestClient.zone(zone.rawValue)
            part.names = cells.map(\.recordName)
            return part
        }
        let answer = try await client.ask(.fetchRecords(request)).fetchRecords
        return Dictionary(uniqueKeysWithValues: zip(groups.flatMap(\.value), answer.results))
    }
}
