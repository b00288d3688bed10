// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkFairness
import TidemarkFields
import TidemarkService
import TidemarkTestSupport

@testable import TidemarkStore

/// Who has how many of the places for indexes.
@Suite struct IndexPlacesTests {
    private let alice = AccountID(1)
    private let bob = AccountID(2)

    // MARK: Counting

    @Test func `R-749: an account has 40 places in development, and half of a container's, whatever it makes`() throws {
        var built = BuiltIndexes([])
        let containers = (1...4).map { Self.schema(number: $0) }
        #expect(try take(containers[0], alice, &built) == 30)
        #expect(try take(containers[1], alice, &built) == 10)
        #expect(try take(containers[2], alice, &built) == 0)
        // A place that is free again is its own again.
        let name = try #require(built.names.min())
        built.remove(name)
        let again = try [containers[0], containers[1]].map { try take($0, alice, &built) }
        #expect(again.reduce(0, +) == 1)
        // The others have the rest of a container, and what an operator asks for counts for no account.
        #expect(try take(containers[0], bob, &built) == 30)
        #expect(try take(containers[0], AccountID(3), &built) == 0)
        #expect(try take(containers[1], bob, &built) == 10)
        #expect(try take(containers[1], nil, &built) == 40)
        #expect(built.names.count == 120)
        // Development has a bound of its own.
        #expect(try take(containers[2], nil, &built) == 60)
        #expect(try take(containers[3], nil, &built) == 20)
        #expect(built.names.count == 200)
        let productionIsBounded = IndexPlaces(of: Self.schema(number: 5, isFrozen: true), for: alice) != nil
        #expect(!productionIsBounded)
    }

    @Test func `R-749: what is not valid takes no place, and what is used least gives way first`() {
        let existing = [
            Self.index("a", useCount: 7, asker: alice), Self.index("b", useCount: 0), Self.index("c", useCount: 0),
            Self.index("d", useCount: 2, asker: bob), Self.index("e", isValid: false, asker: alice),
        ]
        let built = BuiltIndexes(existing)
        #expect(built.names == ["a", "b", "c", "d"])
        #expect(built.names(askedBy: alice) == ["a"] && built.names(askedBy: bob) == ["d"])
        #expect(ExistingIndex.byUse(existing.filter(\.isValid)).map(\.name) == ["a", "d", "b", "c"])
    }

    @Test func `R-749, I-7: an account's wishes wait once, and at most as many as it has places`() throws {
        let bounds = IndexBounds()
        let schema = Self.schema(number: 1)
        let all = Self.indexes(of: schema)
        var wanted = WantedIndexes()
        #expect(wanted.isEmpty)
        for _ in 0..<3 { wanted.add(all, within: IndexPlaces(of: schema, for: alice), bounds: bounds) }
        wanted.add(Array(all.suffix(5)), within: IndexPlaces(of: schema, for: bob), bounds: bounds)
        for _ in 0..<2 { wanted.add(Array(all.prefix(3)), within: nil, bounds: bounds) }
        #expect(!wanted.isEmpty)
        let taken = wanted.takeAll()
        #expect(wanted.isEmpty)
        #expect(taken.prefix(3).map(\.index) == Array(all.prefix(3)))
        #expect(taken.prefix(3).allSatisfy { $0.places == nil })
        #expect(taken.dropFirst(3).prefix(40).allSatisfy { $0.places?.account == alice })
        #expect(taken.dropFirst(43).map(\.index) == Array(all.suffix(5)))
        #expect(taken.dropFirst(43).allSatisfy { $0.places?.account == bob })
    }

    @Test func `R-749: a query asks for the indexes that it needs, and for none of others' marks`() {
        let type = RecordTypeSchema(
            fields: [
                "a": FieldSchema(SchemaFieldType(.string), marks: .all),
                "b": FieldSchema(SchemaFieldType(.int64), marks: .queryable),
            ],
            systemMarks: [.modificationDate: .sortable])
        func names(_ query: Query) -> Set<String> {
            let needs = Schema(types: ["T": type]).marksNeeded(by: query, searchesAll: true)
            return Set(PhysicalIndex.all(for: type.keeping(needs), named: "T").map(\.kindName))
        }
        let byNumber = Query(recordType: "T", zoneName: nil, predicate: .compare(.field("b"), .equal, .int64(1)))
        #expect(
            names(byNumber) == [IndexColumn.key(.equality, "b"), SystemField.creationDate.rawValue])
        let search = Query(recordType: "T", zoneName: nil, predicate: .search("x"))
        #expect(names(search) == [IndexColumn.words, SystemField.creationDate.rawValue])
        let sorted = Query(recordType: "T", zoneName: nil, sorts: [QuerySort(.field("a"))])
        #expect(names(sorted).contains(IndexColumn.key(.order, "a")))
        #expect(!names(sorted).contains(SystemField.modificationDate.rawValue))
    }

    /// How many indexes of a container are built when all of them are asked for.
    private func take(
        _ schema: ContainerSchema, _ account: AccountID?, _ built: inout BuiltIndexes
    ) throws -> Int {
        let places = try #require(IndexPlaces(of: schema, for: account))
        let before = built.names.count
        for index in Self.indexes(of: schema)
        where !built.names.contains(index.name) && places.hasRoom(beside: built, within: IndexBounds()) {
            built.insert(index.name, askedBy: account)
        }
        return built.names.count - before
    }

    /// A container with one type of its own, and more marks than a container has places.
    private static func schema(number: Int64, isFrozen: Bool = false) -> ContainerSchema {
        var type = RecordTypeSchema()
        for key in 0..<80 { type.fields["k\(key)"] = FieldSchema(SchemaFieldType(.int64), marks: .queryable) }
        return ContainerSchema(
            container: ContainerID(number), version: 1, isFrozen: isFrozen, schema: Schema(types: ["T\(number)": type]))
    }

    private static func indexes(of schema: ContainerSchema) -> [PhysicalIndex] {
        schema.schema.types.flatMap { PhysicalIndex.all(for: $0.value, named: $0.key) }
    }

    private static func index(
        _ name: String, isValid: Bool = true, useCount: Int64 = 0, asker: AccountID? = nil
    ) -> ExistingIndex {
        ExistingIndex(
            name: name, isValid: isValid, isBeingBuilt: false, byteCount: 0, hasStatistics: true, useCount: useCount,
            asker: asker)
    }

    // MARK: On PostgreSQL

    private static let keys = ["a", "b", "c", "d", "e", "f"]

    @Test func `R-749: an account has its share of a container's places, whichever server counts, and others the rest`()
        async throws
    {
        try await QueryFixture.run { fixture in
            try await fixture.save([("r", Self.keys.map { Field($0, .int64(1)) })], zone: "notes", counter: 1)
            var bounds = IndexBounds()
            bounds.ofAccountInContainerMax = 2
            let first = try Self.storage(fixture, bounds)
            try await Self.ask(["a", "b", "c"], of: .account(1), first, fixture)
            var expected = Self.names(["a", "b"], type: "T")
            try await Self.waitFor(expected, fixture)
            // It comes after all that the first account has asked for.
            try await Self.ask(["d"], of: .account(2), first, fixture)
            expected.formUnion(Self.names(["d"], type: "T"))
            expected.insert(PhysicalIndex(recordType: "T", kind: .creationDate).name)
            try await Self.waitFor(expected, fixture)
            await first.stop()
            // Another server knows it too.
            let second = try Self.storage(fixture, bounds)
            try await Self.ask(["e"], of: .account(1), second, fixture)
            try await Self.ask(["f"], of: .account(3), second, fixture)
            expected.formUnion(Self.names(["f"], type: "T"))
            try await Self.waitFor(expected, fixture)
            await second.stop()
            // An operator is not counted.
            try await fixture.admin.buildIndexes()
            expected.formUnion(Self.names(Self.keys, type: "T"))
            #expect(try await Self.built(fixture) == expected)
        }
    }

    @Test func `R-749: production comes first, and takes the places of development when there are no others`()
        async throws
    {
        try await QueryFixture.run { fixture in
            try await fixture.save([("r", Self.keys.map { Field($0, .int64(1)) })], zone: "notes", counter: 1)
            var bounds = IndexBounds()
            bounds.inStoreMax = 4
            bounds.inDevelopmentMax = 4
            let storage = try Self.storage(fixture, bounds)
            let admin = AdminStore(storage)
            func promote(_ text: String, in container: String) async throws {
                let id = try await admin.createContainer(container, .production)
                let current = try await admin.schema(of: id)
                let schema = try Schema(parsing: text)
                #expect(try await admin.replaceSchema(current, by: schema))
                try await admin.prepareQueries(in: id)
            }
            try await Self.ask(["a", "b", "c"], of: .account(1), storage, fixture)
            try await admin.buildIndexes()
            let shared = Self.names(["a"], type: "T").union([PhysicalIndex(recordType: "T", kind: .creationDate).name])
            let development = shared.union(Self.names(["b", "c"], type: "T"))
            #expect(try await Self.built(fixture) == development)
            try await promote("DEFINE SCHEMA RECORD TYPE T ( a INT64 QUERYABLE );", in: "iCloud.one")
            #expect(try await Self.built(fixture) == development, "it shares what there is")
            try await promote("DEFINE SCHEMA RECORD TYPE P ( n INT64 QUERYABLE );", in: "iCloud.two")
            let production = shared.union(Self.names(["n"], type: "P"))
                .union([PhysicalIndex(recordType: "P", kind: .creationDate).name])
            #expect(try await Self.built(fixture) == production)
            // Production takes nothing from production, and development takes nothing back.
            try await promote("DEFINE SCHEMA RECORD TYPE Q ( n INT64 QUERYABLE );", in: "iCloud.three")
            try await Self.ask(["b"], of: .account(1), storage, fixture)
            try await Self.ask(["d"], of: .account(2), storage, fixture)
            try await admin.buildMissingIndexes()
            try await admin.buildIndexes()
            #expect(try await Self.built(fixture) == production)
            await storage.stop()
        }
    }

    private static func storage(_ fixture: QueryFixture, _ bounds: IndexBounds) throws -> PostgresStorage {
        try PostgresStorage(
            url: fixture.url, loop: fixture.loop, connections: 2, queryTimes: .patient, indexBounds: bounds)
    }

    /// With or without an index, the record is found.
    private static func ask(
        _ keys: [String], of owner: WorkOwner, _ storage: PostgresStorage, _ fixture: QueryFixture
    ) async throws {
        let conditions = keys.map { QueryPredicate.compare(.field($0), .equal, .int64(1)) }
        let page = fixture.page(Query(recordType: "T", zoneName: nil, predicate: .and(conditions)))
        let read = try await storage.queryPage(page, for: WorkTurn(of: owner))
        #expect(read.matches.map(\.record.name) == ["r"])
    }

    private static func waitFor(_ names: Set<String>, _ fixture: QueryFixture) async throws {
        try await eventually { try await built(fixture) == names }
    }

    /// The names of the indexes that can be used.
    private static func built(_ fixture: QueryFixture) async throws -> Set<String> {
        Set(try await fixture.admin.indexes().filter { $0.state == .valid }.map(\.name))
    }

    private static func names(_ keys: [String], type: String) -> Set<String> {
        Set(keys.map { PhysicalIndex(recordType: type, kind: .scalar($0, .equality)).name })
    }
}
