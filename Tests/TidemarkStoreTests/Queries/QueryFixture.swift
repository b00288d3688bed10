// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkFairness
import TidemarkFields
import TidemarkPostgres
import TidemarkScheduling
import TidemarkService
import TidemarkSockets
import TidemarkStore
import TidemarkTestSupport

/// One user's private database on PostgreSQL with two zones, and a server that writes to it.
struct QueryFixture: Sendable {
    let storage: PostgresStorage
    let service: CloudService
    let identity: Identity
    let loop: EventLoop
    let url: String
    let zones = [ZoneName.default, "notes"]

    static func run(
        environment: ContainerEnvironment = .development,
        _ body: @escaping @Sendable (QueryFixture) async throws -> Void
    ) async throws {
        try await StoreFixture.run { store in
            let storage = try store.storage()
            let hash = [UInt8](repeating: 7, count: 32)
            let admin = AdminStore(storage)
            let account = try #require(try await admin.createAccount("alice"))
            _ = try await admin.issueCredential(hash: hash, label: "", expiresAt: nil, for: account)
            try await store.loop.runThrowing { [loop = store.loop, url = store.database.url] in
                let service = CloudService(
                    storage: storage, scheduler: loop, limits: Limits(), onMoved: { _ in })
                let identity = try #require(
                    try await storage.identity(
                        credentialHash: hash, container: "iCloud.test", environment: environment,
                        containersMax: .max, now: Timestamp(milliseconds: loop.wallClockMilliseconds)))
                let fixture = QueryFixture(storage: storage, service: service, identity: identity, loop: loop, url: url)
                let id = RequestID(
                    device: DeviceID(high: 0, low: 9), counter: 1, lowestUnanswered: 1)
                _ = try await service.modifyZones(
                    in: identity.privateDatabase, ZonesRequest(id: id, saves: ["notes"], deletes: []),
                    for: .account(identity.account.rawValue)
                ).get()
                let zoneKey = WrappedZoneKey(
                    id: QueryDice.sealed.keyID, accountKeyID: Array(repeating: 1, count: 16),
                    wrapped: Array(repeating: 1, count: 60))
                for zone in fixture.zones {
                    let key = ZoneKey(database: identity.privateDatabase, name: zone)
                    _ = try await service.saveZoneKey(zoneKey, in: key, after: nil).get()
                }
                try await body(fixture)
                await service.stop()
            }.value
            await storage.stop()
        }
    }

    /// Statements past the store.
    func execute(_ statements: String...) throws {
        try PostgresAdministration.execute(statements, url: url)
    }

    var admin: AdminStore { AdminStore(storage) }

    private func key(_ zone: String) -> ZoneKey { ZoneKey(database: identity.privateDatabase, name: zone) }

    /// Saves records, whatever is there; all must succeed.
    func save(
        _ records: [(name: String, fields: [Field])], type: String = "T", zone: String, counter: UInt64,
        device: UInt64 = 1, by service: CloudService? = nil
    ) async throws {
        for (index, start) in stride(from: 0, to: records.count, by: 400).enumerated() {
            let saves = try records[start..<min(start + 400, records.count)].map { name, fields in
                RecordSave(name: name, type: type, tag: nil, fields: try FieldMap(fields), parent: .unchanged)
            }
            let id = RequestID(
                device: DeviceID(high: device, low: UInt64(index)), counter: counter, lowestUnanswered: counter)
            let request = RecordsRequest(
                id: id, key: key(zone), saves: saves, deletes: [], policy: .allKeys, isAtomic: false,
                user: identity.user, access: .owner(identity.user))
            let outcome = try await (service ?? self.service).modifyRecords(
                [request], for: .account(identity.account.rawValue))[0].get()
            for save in outcome.saves { if case .failed(let failure) = save { Issue.record("\(failure)") } }
        }
    }

    func delete(_ names: [String], zone: String, counter: UInt64) async throws {
        let id = RequestID(
            device: DeviceID(high: 1, low: 0), counter: counter, lowestUnanswered: counter)
        let request = RecordsRequest(
            id: id, key: key(zone), saves: [], deletes: names, policy: .allKeys,
            isAtomic: false, user: identity.user, access: .owner(identity.user))
        _ = try await service.modifyRecords([request], for: .account(identity.account.rawValue))[0].get()
    }

    /// Makes the schema what the text says, and prepares queries for it, as an operator does.
    func importSchema(_ text: String) async throws {
        try await importSchema(try Schema(parsing: text))
    }

    func importSchema(_ schema: Schema) async throws {
        let current = try await storage.schema(of: identity.container)
        #expect(try await storage.replaceSchema(current, by: schema))
        try await admin.prepareQueries(in: identity.container)
    }

    /// The records beside which something is kept.
    func indexedNames() async throws -> [String] {
        try await texts("SELECT name FROM record WHERE index_values IS NOT NULL ORDER BY name")
    }

    /// What a query past the store finds.
    func texts(_ sql: String) async throws -> [String] {
        let pool = try PostgresPool(url: url, connections: 1, loop: loop)
        let rows = try await pool.execute([Statement(.read, "texts", sql)()])[0]
        await pool.stop()
        return try rows.map { try $0.string(0) }
    }

    /// All living records, with the names of their zones.
    func records() async throws -> [(zone: String, record: RecordState)] {
        var all: [(zone: String, record: RecordState)] = []
        for zone in zones {
            let page = try await storage.zonePage(
                ZonePageQuery(
                    key: key(zone), after: nil, recordsMax: 100_000, bytesMax: .max, device: DeviceID(high: 0, low: 0),
                    reader: nil, tombstonesPassedMax: Limits().tombstonesPassedMax))
            all += page.records.filter { !$0.isDeleted }.map { (zone, $0) }
        }
        return all
    }

    func page(
        _ query: Query, after: QueryPosition? = nil, recordsMax: Int = 200, bytesMax: Int = 1_000_000
    ) -> QueryPageQuery {
        QueryPageQuery(
            database: identity.privateDatabase, query: query, after: after, recordsMax: recordsMax, bytesMax: bytesMax)
    }

    /// What the service answers to the first page of a query over all zones.
    func ask(
        _ predicate: QueryPredicate = .always(true), sorts: [QuerySort] = [], type: String = "T", cursor: [UInt8] = [],
        recordsMax: Int = 0
    ) async -> Result<QueryPage, QueryRefusal> {
        let query = Query(recordType: type, zoneName: nil, predicate: predicate, sorts: sorts)
        return await service.queryRecords(
            query, in: identity.privateDatabase, of: identity.container, by: .owner(identity.user), cursor: cursor,
            recordsMax: recordsMax, for: WorkTurn(of: .nobody))
    }

    /// All results, page by page.
    func results(of query: Query, recordsMax: Int = 200) async throws -> [QueryMatch] {
        var matches: [QueryMatch] = []
        var position: QueryPosition?
        for _ in 0..<10_000 {
            let read = try await storage.queryPage(page(query, after: position, recordsMax: recordsMax))
            matches += read.matches
            guard read.hasMore, let last = read.matches.last else { return matches }
            #expect(read.matches.count == recordsMax)
            position = QueryOrder(query).position(of: last.record, in: last.zoneName)
        }
        throw PagesWithoutEnd()
    }

    /// What the evaluator says, in the order that the rules say.
    static func expected(
        _ query: Query, of records: [(zone: String, record: RecordState)], fields: QueryFields = .unknown
    ) -> [QueryMatchName] {
        let evaluator = QueryEvaluator(query.predicate, fields: fields)
        let order = QueryOrder(query)
        return records.filter { zone, record in
            (query.zoneName == nil || query.zoneName == zone) && record.type == query.recordType
                && evaluator.matches(record, in: zone)
        }.map { ($0, order.position(of: $1, in: $0)) }.sorted { order.precedes($0.1, $1.1) }
            .map { QueryMatchName(zone: $0.1.zoneName, name: $0.1.recordName) }
    }
}

struct QueryMatchName: Equatable, CustomStringConvertible {
    let zone: String
    let name: String

    var description: String { "\(zone)/\(name)" }
}

private struct PagesWithoutEnd: Error {}

extension Scheduler {
    var wallClock: Timestamp { Timestamp(milliseconds: wallClockMilliseconds) }
}

extension Storage {
    /// A page for one who asks alone.
    func queryPage(_ page: QueryPageQuery) async throws(StorageError) -> StoreRead<QueryPageRead> {
        try await queryPage(page, for: WorkTurn(of: .nobody))
    }
}
