// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkFields
internal import TidemarkScheduling
internal import TidemarkService

extension StorageConformance {
    static let assets: [Scenario] = [
        Scenario("R-070: what was uploaded to the database is known to saves there, and only there") { store in
            let alice = try await store.alice().privateDatabase
            let bob = try await store.bob().privateDatabase
            let keys = [
                try require(try await store.createZones("notes", in: alice).first, "a zone").key,
                try require(try await store.createZones("notes", in: bob).first, "a zone").key,
            ]
            let uploaded = [asset(1), asset(2)]
            for content in uploaded {
                try await store.first.keepAsset(AssetKey(database: alice, content: content), now: StorageFixture.now)
            }
            let asked = [asset(1), asset(1, byteCount: 9), asset(2), asset(3)]
            let transaction = try await store.second.beginWrite(keys.map { $0.read(assets: asked) })
            await transaction.rollback()
            try expectEqual(transaction.snapshots[0].assets, Set(uploaded), "hash and size")
            try expectEqual(transaction.snapshots[1].assets, [], "not another database's")
        },
        Scenario("R-743: who sent an asset of a public database is known, for a time, and which records name it") {
            store in
            let (alice, bob) = (try await store.alice(), try await store.bob())
            let container = ContainerKey(identifier: "iCloud.test", environment: .development)
            let found = try await store.first.publicDatabase(of: container, now: StorageFixture.now)
            let database = try require(found, "it is there").database
            let key = ZoneKey(database: database, name: ZoneName.default)
            let (sent, other) = (asset(1), asset(2))
            let kept = AssetKey(database: database, content: sent)
            try expectEqual(try await store.second.assetClaims(of: kept, by: alice.user), AssetClaims(), "not known")
            try expect(try await store.first.keepAsset(kept, from: alice.user, now: at(10)) {}, "there is room")
            func claims(_ users: [UserID]) async throws -> [FieldAsset: AssetClaims] {
                var read = key.read(assets: [sent, other], users: users)
                read.assetClaimants = users.flatMap { user in
                    [sent, other].map { AssetClaimant(asset: $0, user: user) }
                }
                let transaction = try await store.second.beginWrite([read])
                await transaction.rollback()
                let all = transaction.snapshots[0].assetClaims.filter { $0.value != AssetClaims() }
                for user in users {
                    let one = try await store.second.assetClaims(of: kept, by: user)
                    var part = all[sent] ?? AssetClaims()
                    part.senders.formIntersection([user])
                    try expectEqual(one, part, "the same without a transaction")
                }
                return all
            }
            try expectEqual(try await claims([bob.user]), [:], "bob sent nothing")
            let hers = [sent: AssetClaims(senders: [alice.user])]
            try expectEqual(try await claims([alice.user, bob.user]), hers, "alice did")
            try await store.name([sent], in: key, record: "a", time: 20)
            let read = try await store.first.records(named: ["a"], in: key)
            let holder = try require(read.records["a"], "it was saved")
            let zone = try require(read.zone, "it lives")
            let named = AssetClaims.Holder(
                name: "a", type: holder.type, createdBy: holder.createdBy, zone: zone.id)
            try expectEqual(
                try await claims([bob.user]), [sent: AssetClaims(holders: [named])], "whoever may read it may")
            try await store.first.forgetSenders(before: at(10))
            try expectEqual(try await claims([alice.user])[sent]?.senders, [alice.user], "not old yet")
            try await store.first.forgetSenders(before: at(11))
            try expectEqual(try await claims([alice.user])[sent]?.senders, [], "old")
            try await store.name([], removing: [sent], in: key, record: "a", time: 30)
            try expectEqual(try await claims([alice.user, bob.user]), [:], "nobody has it any more")
        },
        Scenario("R-072, R-708: an asset is unused when no living zone's record names it, and the grace time is over") {
            store in
            let database = try await store.alice().privateDatabase
            let key = try require(try await store.createZones("notes", in: database).first, "a zone").key
            let assets = (1...3).map { AssetKey(database: database, content: asset(UInt8($0))) }
            for asset in assets { try await store.first.keepAsset(asset, now: at(10)) }
            try expectEqual(try await store.unused(before: 11), assets, "nobody names them")
            try expectEqual(try await store.unused(before: 10), [], "too young")
            try await store.name([asset(1), asset(2)], in: key, record: "a", time: 20)
            // a look reads so many assets, used or not.
            func look(after last: AssetKey?) async throws -> (unused: [AssetKey], last: AssetKey?) {
                try await store.first.unusedAssets(touchedBefore: at(100), after: last, among: 2)
            }
            let first = try await look(after: nil)
            try expectEqual(first.unused, [], "both are used")
            try expectEqual(first.last, assets[1], "where the next look begins")
            let second = try await look(after: first.last)
            try expectEqual(second.unused, [assets[2]], "the rest")
            try expectEqual(second.last, nil, "no more")
            try await store.name([asset(2)], in: key, record: "b", time: 21)
            try expectEqual(try await store.unused(before: 100), [assets[2]], "those that are named are used")
            try await store.name([], removing: [asset(1), asset(2)], in: key, record: "a", time: 30)
            try expectEqual(try await store.unused(before: 30), [assets[2]], "its time begins anew")
            try expectEqual(try await store.unused(before: 31), [assets[0], assets[2]], "b still has the second")
            try await store.changeZones(in: database, remove: ["notes"])
            try expectEqual(try await store.unused(before: 31), assets, "the zone is gone")
        },
        Scenario("R-072, R-133: what a record named that was deleted unread is named by it no more") { store in
            let database = try await store.alice().privateDatabase
            let key = try require(try await store.createZones("notes", in: database).first, "a zone").key
            let assets = (1...3).map { AssetKey(database: database, content: asset(UInt8($0))) }
            for asset in assets { try await store.first.keepAsset(asset, now: at(10)) }
            try await store.name([asset(1), asset(2)], in: key, record: "a", time: 20)
            try await store.name([asset(2), asset(3)], in: key, record: "b", time: 21)
            let transaction = try await store.first.beginWrite([key.read(assets: [asset(3)])])
            // One that was made anew by the same transaction names what it names then.
            let uses = [
                AssetUse(recordName: "a", at: at(30), added: [asset(3)], removed: [], removesUnread: true),
                AssetUse(recordName: "never", at: at(30), added: [], removed: [], removesUnread: true),
            ]
            let changes = transaction.snapshots[0].changes([RecordDraft("a", text: "new")], assetUses: uses)
            try await transaction.commit([try require(changes, "the zone lives")])
            try expectEqual(try await store.unused(before: 30), [], "its time begins anew")
            try expectEqual(try await store.unused(before: 31), [assets[0]], "b still has the others")
            try await store.name([], removing: [asset(2), asset(3)], in: key, record: "b", time: 40)
            try expectEqual(try await store.unused(before: 41), [assets[0], assets[1]], "a has the third now")
        },
        Scenario("R-072: an asset is forgotten only if it is unused and old, and what removes it says so") { store in
            let database = try await store.alice().privateDatabase
            let key = try require(try await store.createZones("notes", in: database).first, "a zone").key
            let assets = (1...3).map { AssetKey(database: database, content: asset(UInt8($0))) }
            for asset in assets { try await store.first.keepAsset(asset, now: at(10)) }
            try await store.name([asset(1)], in: key, record: "a", time: 20)
            try expect(try await !store.forget(assets[0], before: 100), "it is used")
            try expect(try await !store.forget(assets[1], before: 10), "it is young")
            try expect(try await !store.forget(assets[1], before: 100, removes: false), "it could not be removed")
            try expect(try await store.forget(assets[1], before: 100), "now it is")
            try expect(try await !store.forget(assets[1], before: 100), "it is gone")
            try expectEqual(try await store.unused(before: 100), [assets[2]], "the third is left")
            try await store.second.keepAsset(assets[2], now: at(200))
            try expect(try await !store.forget(assets[2], before: 100), "it was asked for again")
        },
        Scenario("R-072: what a transaction has seen uploaded is not forgotten before it ends") { store in
            try expect(try await !store.forgetWhileNamed(asset(1), at: 150), "it was named meanwhile")
        },
        Scenario("R-072: a save that names an asset keeps it, however short the grace time is") { store in
            try expect(try await !store.forgetWhileNamed(asset(1), at: 50), "old by its time, but in use")
        },
        Scenario("R-072: zones that exchange their assets do not wait for each other in a circle") { store in
            let database = try await store.alice().privateDatabase
            let keys = try await store.createZones("a", "b", in: database).map(\.key)
            let contents = [asset(1), asset(2)]
            for (key, content) in zip(keys, contents) {
                try await store.first.keepAsset(AssetKey(database: database, content: content), now: at(10))
                try await store.name([content], in: key, record: "r", time: 20)
            }
            let writers = [
                try await store.first.beginWrite([keys[0].read(assets: [contents[1]])]),
                try await store.second.beginWrite([keys[1].read(assets: [contents[0]])]),
            ]
            let commits = try writers.enumerated().map { number, writer in
                let use = AssetUse(
                    recordName: "r", at: at(30), added: [contents[1 - number]], removed: [contents[number]])
                let changes = try require(
                    writer.snapshots[0].changes([RecordDraft("r", text: "new")], assetUses: [use]), "the zone lives")
                return store.scheduler.runThrowing { try await writer.commit([changes]) }
            }
            for commit in commits { try await commit.value }
            try expectEqual(try await store.unused(before: 100), [], "each is the other zone's now")
        },
        Scenario("after a restore, what is kept and not known becomes known, and what is known stays as it is") {
            store in
            let database = try await store.alice().privateDatabase
            let assets = (1...3).map { AssetKey(database: database, content: asset(UInt8($0))) }
            try await store.first.keepAsset(assets[0], now: at(10))
            try expectEqual(try await store.first.adoptAssets(assets, now: at(50)), 2, "two were not known")
            try expectEqual(try await store.unused(before: 50), [assets[0]], "the known one keeps its time")
            try expectEqual(try await store.unused(before: 51), assets, "the others began theirs")
        },
    ]

    private static func asset(_ number: UInt8, byteCount: Int64 = 5) -> FieldAsset {
        FieldAsset(sha256: Array(repeating: number, count: 32), byteCount: byteCount)
    }
}

private func at(_ milliseconds: Int64) -> Timestamp {
    Timestamp(milliseconds: 1_700_000_000_000 + milliseconds)
}

extension StorageFixture {
    fileprivate func unused(before time: Int64) async throws -> [AssetKey] {
        try await second.unusedAssets(touchedBefore: at(time), after: nil, among: 100).unused
    }

    fileprivate func forget(_ asset: AssetKey, before time: Int64, removes: Bool = true) async throws -> Bool {
        try await second.forgetAsset(asset, touchedBefore: at(time)) { removes }
    }

    /// Writes a record that names these assets.
    fileprivate func name(
        _ added: [FieldAsset], removing removed: [FieldAsset] = [], in key: ZoneKey, record: String, time: Int64
    ) async throws {
        let transaction = try await first.beginWrite([key.read(assets: added)])
        let use = AssetUse(recordName: record, at: at(time), added: added, removed: removed)
        let changes = transaction.snapshots[0].changes([RecordDraft(record, text: "\(time)")], assetUses: [use])
        try await transaction.commit([try require(changes, "the zone lives")])
    }

    /// A transaction has seen the asset, and names it. Another forgets meanwhile what is older than 100.
    ///
    /// - Returns: whether the asset was forgotten.
    fileprivate func forgetWhileNamed(_ content: FieldAsset, at time: Int64) async throws -> Bool {
        let database = try await alice().privateDatabase
        let key = try require(try await createZones("notes", in: database).first, "a zone").key
        let kept = AssetKey(database: database, content: content)
        try await first.keepAsset(kept, now: at(10))
        let transaction = try await first.beginWrite([key.read(assets: [content])])
        let forgetting = scheduler.runThrowing { try await forget(kept, before: 100) }
        try await passTime()
        let use = AssetUse(recordName: "a", at: at(time), added: [content], removed: [])
        let changes = try require(
            transaction.snapshots[0].changes([RecordDraft("a")], assetUses: [use]), "the zone lives")
        try await transaction.commit([changes])
        return try await forgetting.value
    }
}
