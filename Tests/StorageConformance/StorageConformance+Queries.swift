// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkFairness
internal import TidemarkFields
internal import TidemarkScheduling
internal import TidemarkService

extension StorageConformance {
    static let queries: [Scenario] = [
        Scenario("R-176 … R-190: random queries find what the rules say, in their order, page by page") { store in
            let alice = try await store.alice()
            let database = alice.privateDatabase
            try await store.createZones("A", "B", in: database)
            let types = ["Item", "Other"].map { ($0, RandomQueries<StepRandom>.schema.fields) }
            try await store.learn(Dictionary(types) { first, _ in first }, in: alice)
            let seed = store.scheduler.randomBits()
            var chance = RandomQueries(StepRandom(state: seed))
            var all: [(zone: String, record: RecordState)] = []
            // The later ones are written when some index values are already kept beside the records.
            for round in 0..<3 {
                for zone in RandomQueries<StepRandom>.zoneNames {
                    let key = ZoneKey(database: database, name: zone)
                    let records = (1...10).map { chance.record(number: round * 10 + $0) }
                    try await store.writeIndexed(records, in: key, of: alice)
                    all += records.map { (zone, $0) }
                }
                for _ in 0..<12 {
                    let query = chance.query()
                    let expected = PlainQueries.results(query, among: all)
                    let found = try await store.allPages(of: query, in: database, recordsMax: 15)
                    try expectEqual(found, expected, "seed \(seed): \(query)")
                }
            }
        },
        Scenario("R-173: a query sees its zone or all living zones of its database, and living records alone") {
            store in
            let member = try await store.alice()
            try await store.learnNotes(in: member)
            let alice = member.privateDatabase
            let bob = try await store.bob().privateDatabase
            try await store.createZones("a", "b", "gone", in: alice)
            try await store.createZones("a", in: bob)
            for (database, zone) in [(alice, "a"), (alice, "b"), (alice, "gone"), (bob, "a")] {
                let drafts = [RecordDraft("\(zone)1"), RecordDraft("\(zone)2", isDeleted: true)]
                try await store.write(drafts, in: ZoneKey(database: database, name: zone))
            }
            try await store.changeZones(in: alice, remove: ["gone"])
            let everywhere = Query(recordType: "Note", zoneName: nil)
            try expectEqual(try await store.allPages(of: everywhere, in: alice), ["a/a1", "b/b1"], "all living zones")
            try expectEqual(try await store.allPages(of: everywhere, in: bob), ["a/a1"], "of one database")
            let one = Query(recordType: "Note", zoneName: "b")
            try expectEqual(try await store.allPages(of: one, in: alice), ["b/b1"], "one zone")
            let none = Query(recordType: "Other", zoneName: nil)
            try expectEqual(try await store.allPages(of: none, in: alice), [], "of a type that nobody saved")
            for (zone, removal) in [("gone", ZoneRemovalReason.deleted), ("never", nil)] {
                let missing = try await store.first.queryPage(
                    QueryPageQuery(alice, Query(recordType: "Note", zoneName: zone)))
                try expectEqual(missing.isZoneFound, false, "R-029: \(zone) is missing")
                try expectEqual(missing.lastRemoval, removal, "why \(zone) is missing")
            }
        },
        Scenario("R-173, R-300: a query for CKShare records finds them, though no schema has their type") { store in
            let zones = [
                try await store.shareZone("a"), try await store.shareZone("b"), try await store.shareZone("c"),
            ]
            let database = zones[0].key.database
            try await store.endShare(in: zones[2].key)
            let name = Share.zoneWideName
            let all = Query(recordType: Share.recordType, zoneName: nil)
            let found = try await store.allPages(of: all, in: database)
            try expectEqual(found, ["a/\(name)", "b/\(name)"], "of all zones")
            let value = QueryValue.reference(QueryReference(recordName: name))
            let one = Query(
                recordType: Share.recordType, zoneName: "b", predicate: .compare(.system(.recordID), .equal, value),
                sorts: [QuerySort(.system(.modificationDate), isAscending: false)])
            try expectEqual(try await store.allPages(of: one, in: database), ["b/\(name)"], "of one zone")
            let ended = Query(recordType: Share.recordType, zoneName: "c")
            try expectEqual(try await store.allPages(of: ended, in: database), [], "of a share that has ended")
            let types = try await store.first.schema(of: zones[0].owner.container).schema.types
            try expect(types[Share.recordType] == nil, "the schema is not taught")
        },
        Scenario("a query says by which schema it went, and in which life of the store") { store in
            let alice = try await store.alice()
            try await store.learnNotes(in: alice)
            for (type, zone) in [("Note", nil), ("Note", "none"), ("Other", nil), ("Other", "none")] {
                let query = Query(recordType: type, zoneName: zone)
                let read = try await store.second.queryPage(QueryPageQuery(alice.privateDatabase, query))
                let version = try await store.first.schema(of: alice.container).version
                let stamp = SchemaStamp(container: alice.container, version: version)
                try expectEqual(read.value.schema, stamp, "container and version")
                try expectEqual(read.store, try await store.first.incarnation(), "the store's life")
            }
        },
        Scenario("R-188: a page is cut at its bytes, and never empty") { store in
            let alice = try await store.alice()
            try await store.learnNotes(in: alice)
            let database = alice.privateDatabase
            let key = try require(try await store.createZones("a", in: database).first, "a zone").key
            let text = String(repeating: "x", count: 1_000)
            try await store.write((1...5).map { RecordDraft("r\($0)", text: text) }, in: key)
            let query = Query(recordType: "Note", zoneName: "a", sorts: [QuerySort(.system(.recordID))])
            for (bytesMax, count) in [(1, 1), (1_000, 1), (1_100, 2), (1_000_000, 5)] {
                let read = try await store.second.queryPage(
                    QueryPageQuery(database: database, query: query, recordsMax: 10, bytesMax: bytesMax))
                try expectEqual(read.matches.count, count, "\(bytesMax) bytes")
                try expectEqual(read.hasMore, count < 5, "whether there are more after \(bytesMax) bytes")
            }
        },
        Scenario("R-190, R-706: a query sees what was saved before it, and not what is being saved") { store in
            let alice = try await store.alice()
            try await store.learnNotes(in: alice)
            let database = alice.privateDatabase
            let key = try require(try await store.createZones("a", in: database).first, "a zone").key
            try await store.write([RecordDraft("x", text: "old")], in: key)
            let query = Query(
                recordType: "Note", zoneName: "a", predicate: .compare(.field("text"), .equal, .string("new")))
            try expectEqual(try await store.allPages(of: query, in: database), [], "before the transaction")
            let schema = try await store.first.schema(of: alice.container)
            let transaction = try await store.first.beginWrite([key.read()])
            try expectEqual(try await store.allPages(of: query, in: database), [], "before the commit")
            let changes = try require(transaction.snapshots[0].changes([RecordDraft("x", text: "new")]), "a zone")
            try await transaction.commit([changes.indexed(by: schema.schema)])
            try expectEqual(try await store.allPages(of: query, in: database), ["a/x"], "after it")
        },
    ]
}

extension QueryPageQuery {
    fileprivate init(_ database: DatabaseID, _ query: Query) {
        self.init(database: database, query: query, recordsMax: 100, bytesMax: 1_000_000)
    }
}

extension StorageFixture {
    /// "zone/record" for every result of a query.
    fileprivate func allPages(of query: Query, in database: DatabaseID, recordsMax: Int = 100) async throws -> [String]
    {
        var found: [String] = []
        var after: QueryPosition?
        for _ in 0..<1_000 {
            let page = QueryPageQuery(
                database: database, query: query, after: after, recordsMax: recordsMax, bytesMax: 1_000_000)
            let read = try await second.queryPage(page)
            found += read.matches.map { "\($0.zoneName)/\($0.record.name)" }
            guard read.hasMore else { return found }
            let last = try require(read.matches.last, "a page that is not the last has records")
            let position = QueryOrder(query).position(of: last.record, in: last.zoneName)
            // As it comes back from a client.
            let cursor = QueryCursor(
                store: try await first.incarnation(), database: database, viewer: nil, query: query, position: position)
            after = try QueryCursor.opened(cursor.bytes, for: query, in: database, viewer: nil).get()?.position
        }
        throw StorageConformanceFailure(description: "broken: pages end")
    }

    fileprivate func learn(_ fields: [String: [String: FieldSchema]], in identity: Identity) async throws {
        _ = try await first.learn(SchemaLesson(fields: fields), in: identity.container)
    }

    /// What records of ``RecordDraft`` have.
    func learnNotes(in identity: Identity) async throws {
        let fields = ["text": FieldSchema(SchemaFieldType(.string)), "blob": FieldSchema(SchemaFieldType(.bytes))]
        try await learn(["Note": fields], in: identity)
    }

    /// Writes records as the service does: with the index values that the schema wants.
    fileprivate func writeIndexed(_ records: [RecordState], in key: ZoneKey, of identity: Identity) async throws {
        let schema = try await first.schema(of: identity.container)
        let transaction = try await first.beginWrite([key.read()])
        let snapshot = try require(transaction.snapshots.first, "a snapshot")
        let zone = try require(snapshot.zone, "zone \(key.name) lives")
        try expectEqual(snapshot.schema?.version, schema.version, "nobody changed the schema meanwhile")
        let changes = ZoneChanges(
            database: key.database, zone: zone.id, changeNumber: zone.changeNumber + ChangeNumber(records.count),
            records: records, memories: [:], clientTokensMax: Limits().clientTokensMax)
        try await transaction.commit([changes.indexed(by: schema.schema)])
    }
}

extension ZoneChanges {
    fileprivate func indexed(by schema: Schema) -> ZoneChanges {
        var changes = self
        let scope = IndexColumn.scope(database, zone)
        for record in records where !record.isDeleted {
            let writer = IndexColumnWriter(schema.types[record.type] ?? RecordTypeSchema())
            changes.indexColumns[record.name] = writer.column(of: record.fields, scope: scope)
        }
        return changes
    }
}

extension RandomQueries {
    fileprivate mutating func record(number: Int) -> RecordState {
        let fields = fields()
        return RecordState(
            name: "r\(number)", type: number % 7 == 0 ? "Other" : "Item",
            fields: number % 9 == 0 ? FieldMap() : fields, changeNumber: ChangeNumber(number),
            isDeleted: number % 9 == 0, parent: number % 3 == 0 ? "r1" : nil,
            createdAt: Timestamp(milliseconds: date()), createdBy: UserID(11),
            createdByDevice: DeviceID(high: 1, low: 1), modifiedAt: Timestamp(milliseconds: date()),
            modifiedBy: UserID(number % 2 == 0 ? 11 : 12),
            batchEnd: ChangeNumber((number + 9) / 10 * 10))
    }
}

/// SplitMix64: the same numbers for the same seed.
struct StepRandom: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = state
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }
}

extension Storage {
    /// A page for one who asks alone.
    fileprivate func queryPage(_ page: QueryPageQuery) async throws(StorageError) -> StoreRead<QueryPageRead> {
        try await queryPage(page, for: WorkTurn(of: .nobody))
    }
}
