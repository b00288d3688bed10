// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import Testing
import TidemarkDomain
import TidemarkFields
import TidemarkTestSupport
import TidemarkTranslation
import TidemarkWire

/// The truth table of deleting through a real server: TLS, WebSocket, protobuf, PostgreSQL. Every cell has records of its own,
/// and all of a database go in one request.
@Suite struct DeleteTruthTableTests {
    private typealias Cell = DeleteTruthTable.Cell
    private typealias Zone = DeleteTruthTable.Zone

    /// What a zone's feed tells of a record that is gone.
    private struct End: Hashable {
        let zone: Zone
        let name: String
        let type: String
    }

    @Test func `R-006, R-010, R-106, R-107, R-130 … R-137, R-139: the truth table of deleting on a real server`()
        async throws
    {
        try await withLiveWorld { world in
            try await world.withServer { server in
                let bob = try await world.enter(world.bob, device: 2, server: server)
                let alice = try await world.enter(world.alice, device: 1, server: server)
                try await world.makeTruthTableZones(by: bob)
                let cells = DeleteTruthTable.cells.filter { $0.access.refusal == nil }
                for (access, client) in [(DeleteTruthTable.Access.otherUser, alice), (.creator, bob), (.owner, bob)] {
                    try await prepare(cells.filter { $0.access == access && $0.server != .neverExisted }, client)
                }
                var tokens: [Zone: [UInt8]] = [:]
                for zone in [Zone.living, .recreated] {
                    tokens[zone] = try await bob.feed(of: zone, since: []).token
                }
                for scope in [DatabaseScope.private, .public, .shared] {
                    try await judge(cells.filter { $0.access.scope == scope }, scope, bob)
                }
                try await judgeFeeds(since: tokens, bob)
                try await judgeRefused(.nobody, world.enterAsNobody(server: server))
            }
        }
    }

    // MARK: Before

    /// The records and their relatives, then the end of those that are to be deleted already.
    private func prepare(_ cells: [Cell], _ client: LiveClient) async throws {
        let scope = try #require(cells.first).access.scope
        var request = client.request(scope, .allKeys)
        request.zones = try parts(cells) { part, cell in
            part.saves.append(
                try save(cell.recordName, type(of: cell), fields: [Field("a", .int64(1))], parent: cell.parent))
            for relative in cell.relatives {
                let reference = relative.target.map { FieldReference(recordName: $0, action: .deleteSelf) }
                let fields = reference.map { [Field("to", .reference($0))] } ?? []
                part.saves.append(try save(relative.name, "Relative", fields: fields, parent: relative.parent))
            }
        }
        let saved = try await client.ask(.modifyRecords(request)).modifyRecords.zones.flatMap(\.saves)
        #expect(saved.count >= cells.count && saved.allSatisfy { !$0.saved.tag.isEmpty })
        request = client.request(scope, .allKeys)
        request.zones = parts(cells.filter { $0.server == .deleted }) { $0.deletes.append($1.recordName) }
        let deleted = try await client.ask(.modifyRecords(request)).modifyRecords.zones.flatMap(\.deletes)
        #expect(!deleted.isEmpty && deleted.allSatisfy { $0.failure.code == .unspecified })
    }

    private func type(of cell: Cell) -> String { cell.server == .presentWithAnotherType ? "Another" : "Item" }

    private func save(
        _ name: String, _ type: String, fields: [Field], parent: String?
    ) throws -> WireRecordSave {
        var save = WireRecordSave()
        save.name = name
        save.type = type
        save.fields = [UInt8](try FieldMap(fields).bytes)
        if let parent {
            save.parentChange = .parentSet
            save.parent = parent
        }
        return save
    }

    private func parts(
        _ cells: [Cell], _ fill: (inout WireZoneModifications, Cell) throws -> Void
    ) rethrows -> [WireZoneModifications] {
        try groups(cells).map { zone, cells in
            var part = WireZoneModifications()
            part.zone = TestClient.zone(zone.rawValue)
            for cell in cells { try fill(&part, cell) }
            return part
        }
    }

    private func groups(_ cells: [Cell]) -> [(key: Zone, value: [Cell])] {
        Dictionary(grouping: cells, by: \.zone).sorted { $0.key.rawValue < $1.key.rawValue }
    }

    // MARK: The deletion that is judged

    private func judge(_ cells: [Cell], _ scope: DatabaseScope, _ client: LiveClient) async throws {
        var request = client.request(scope, .ifServerRecordUnchanged)
        request.zones = parts(cells) { $0.deletes += $1.deletes }
        let answer = try await client.ask(.modifyRecords(request)).modifyRecords
        #expect(answer.zones.count == request.zones.count)
        let found = try await living(cells, scope, client)
        for ((_, cells), part) in zip(groups(cells), answer.zones) {
            var results = part.deletes[...]
            for cell in cells {
                let rule = try #require(DeleteTruthTable.rule(for: cell))
                let comment: Comment = "\(rule.names): \(cell)"
                let failures = results.prefix(cell.deletes.count).map(\.failure)
                results = results.dropFirst(cell.deletes.count)
                #expect(failures.count == cell.deletes.count, comment)
                var left = cell.server.isPresent ? names(of: cell) : []
                switch rule.result {
                case .deleted:
                    #expect(failures.allSatisfy { $0.code == .unspecified }, comment)
                    left.subtract(cell.deletes + cell.company)
                case .nothing:
                    #expect(failures.allSatisfy { $0.code == .unspecified }, comment)
                case .refused(let reason):
                    #expect(failures.allSatisfy { $0 == reason.wire() }, comment)
                }
                #expect(found.intersection(names(of: cell)) == left, comment)
            }
            #expect(results.isEmpty)
        }
    }

    private func names(of cell: Cell) -> Set<String> { Set([cell.recordName] + cell.relatives.map(\.name)) }

    private func living(_ cells: [Cell], _ scope: DatabaseScope, _ client: LiveClient) async throws -> Set<String> {
        var request = WireFetchRecords()
        request.database = WireDatabaseScope(scope)
        request.zones = groups(cells).map { zone, cells in
            var part = WireZoneRecordNames()
            part.zone = TestClient.zone(zone.rawValue)
            part.names = cells.flatMap { names(of: $0).sorted() }
            return part
        }
        let asked = request.zones.flatMap(\.names)
        let results = try await client.ask(.fetchRecords(request)).fetchRecords.results
        #expect(results.count == asked.count)
        return Set(zip(asked, results).filter { $1.failure.code == .unspecified }.map(\.0))
    }

    /// what is gone is told once, with its type, and nothing else is.
    private func judgeFeeds(since tokens: [Zone: [UInt8]], _ client: LiveClient) async throws {
        var told: [End] = []
        for (zone, token) in tokens {
            let changes = try await client.feed(of: zone, since: token).changes
            #expect(changes.allSatisfy { !$0.deleted.name.isEmpty })
            told += changes.map { End(zone: zone, name: $0.deleted.name, type: $0.deleted.type) }
        }
        var expected: Set<End> = []
        for cell in DeleteTruthTable.cells where cell.access == .owner && tokens[cell.zone] != nil {
            guard DeleteTruthTable.rule(for: cell)?.result == .deleted else { continue }
            for name in cell.deletes + cell.company {
                let type = name == cell.recordName ? type(of: cell) : "Relative"
                expected.insert(End(zone: cell.zone, name: name, type: type))
            }
        }
        #expect(Set(told) == expected && told.count == expected.count && !told.isEmpty)
    }

    private func judgeRefused(_ access: DeleteTruthTable.Access, _ client: LiveClient) async throws {
        let reason = try #require(access.refusal)
        let cells = DeleteTruthTable.cells.filter { $0.access == access }
        #expect(cells.allSatisfy { DeleteTruthTable.rule(for: $0)?.result == .refused(reason) })
        var request = client.request(access.scope, .ifServerRecordUnchanged)
        request.zones = parts(cells) { $0.deletes += $1.deletes }
        #expect(try await client.ask(.modifyRecords(request)).failure == reason.wire())
    }
}

extension LiveClient {
    /// What a zone's feed has past a token, to its end.
    fileprivate func feed(
        of zone: DeleteTruthTable.Zone, since token: [UInt8]
    ) async throws -> (changes: [WireZoneChange], token: [UInt8]) {
        var (changes, token): ([WireZoneChange], [UInt8]) = ([], token)
        for _ in 0..<1_000 {
            let answer = try await ask(.fetchZoneChanges(TestClient.zoneChanges(zone.rawValue, token: token)))
            guard case .fetchZoneChanges(let page)? = answer.answer else { throw LiveError("no page: \(answer)") }
            changes += page.changes
            token = page.token
            if !page.moreComing { return (changes, token) }
        }
        throw LiveError("a feed without an end")
    }
}
