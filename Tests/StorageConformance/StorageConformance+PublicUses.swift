// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkFields
internal import TidemarkScheduling
internal import TidemarkService

extension StorageConformance {
    static let publicUses: [Scenario] = [
        Scenario("R-276: what accounts have of a public database is what they have created, whatever happens") {
            store in
            let world = try await PublicWorld(store, share: .bytes(1 << 40))
            var random = StepRandom(state: 276)
            for content in PublicWorld.assets {
                for user in world.users { try await world.send(content, from: user, on: store.first) }
            }
            for step in 1...120 as ClosedRange<UInt64> {
                let requests = (0...Int.random(in: 0...2, using: &random)).map { part in
                    world.request(step * 4 + UInt64(part), using: &random)
                }
                let isKept = Int.random(in: 0...4, using: &random) > 0
                try await world.decide(requests, on: step % 2 == 0 ? store.first : store.second, isKept)
                try expectEqual(try await world.counted(), try await world.created(), "after step \(step)")
            }
            try expect(try await world.created().values.allSatisfy { $0 > 0 }, "everybody has something")
        },
        Scenario("R-276, R-277: a share that is set later knows what was created before, on every server") { store in
            let world = try await PublicWorld(store, share: .standard)
            try await world.save("a", byteCount: 300, by: world.users[0], 1, on: store.first)
            func uses() async throws -> [PublicUse?] {
                var uses: [PublicUse?] = []
                for storage in [store.second, store.first] {
                    let transaction = try await storage.beginWrite([world.key.read(users: world.users)])
                    await transaction.rollback()
                    uses.append(transaction.snapshots[0].publicUse)
                }
                return uses
            }
            let none = PublicUse(bytesMax: nil)
            try expectEqual(try await uses(), [none, none], "no quota, no share")
            let others = try await store.alice().privateDatabase
            let other = try await store.first.beginWrite([ZoneKey(database: others, name: ZoneName.default).read()])
            await other.rollback()
            try expectEqual(other.snapshots[0].publicUse, nil, "only a public database has it")
            let created = try await world.created()
            try await world.setShare(.standard, quota: 5_000)
            let some = PublicUse(bytesMax: 500, byteCounts: created)
            try expectEqual(try await uses(), [some, some], "a tenth")
            try await world.setShare(.bytes(9), quota: nil)
            try expectEqual(try await uses().map(\.?.bytesMax), [9, 9], "without a quota too")
            try await world.setShare(.unlimited, quota: 5_000)
            try expectEqual(try await uses(), [none, none], "and none")
        },
        Scenario("R-279: what a user has sent counts, until a record of the user names it or it is forgotten") {
            store in
            let world = try await PublicWorld(store, share: .bytes(30_000))
            let (alice, bob) = (world.users[0], world.users[1])
            func use(_ user: UserID) async throws -> Int64? {
                let first = try await store.first.publicUse(of: user, in: world.key.database)
                try expectEqual(try await store.second.publicUse(of: user, in: world.key.database), first, "everywhere")
                return first?.byteCount
            }
            let contents = PublicWorld.assets
            try expect(try await world.send(contents[0], from: alice, on: store.first), "10,000 of 30,000")
            try expect(try await world.send(contents[1], from: alice, on: store.second), "30,000")
            try expectEqual(try await use(alice), 30_000, "both")
            try expect(try await !world.send(contents[2], from: alice, on: store.first), "there is no room")
            try expectEqual(world.removed.count, 1, "its file is removed")
            try expect(try await world.send(contents[1], from: alice, on: store.first), "what is there may come again")
            try expectEqual(try await use(bob), 0, "bob has sent nothing")
            // That somebody has a content makes it no cheaper for others.
            try expect(try await world.send(contents[1], from: bob, on: store.second), "20,000 of 30,000")
            try expectEqual(try await use(bob), 20_000, "sent, and not named")
            try expect(
                try await world.save("a", byteCount: 0, naming: [contents[0]], by: alice, 1, on: store.first), "saved")
            let record = try await world.created()[alice] ?? 0
            try expect(record > 10_000, "with its asset")
            try expectEqual(try await use(alice), 20_000 + record, "once, and the other one")
            try await world.delete(["a"], by: alice, 2, on: store.second)
            try expectEqual(try await use(alice), 30_000, "it is stored, and counts for who sent it")
            try await store.first.forgetSenders(before: Timestamp(milliseconds: StorageFixture.now.milliseconds + 1))
            try expectEqual(try await use(alice), 0, "it is collected soon")
        },
        Scenario("R-279: assets of one user that end at the same moment do not fill the same share") { store in
            let world = try await PublicWorld(store, share: .bytes(20_000))
            let calls = (1...4 as ClosedRange<UInt8>).map { number in
                store.scheduler.runThrowing {
                    let content = FieldAsset(sha256: [UInt8](repeating: 100 + number, count: 32), byteCount: 9_000)
                    return try await world.send(
                        content, from: world.users[0], on: number < 3 ? store.first : store.second)
                }
            }
            var count = 0
            for call in calls { count += try await call.value ? 1 : 0 }
            try expectEqual(count, 2, "there is room for two")
            try expectEqual(world.removed.count, 2, "the others were removed")
        },
    ]
}

/// The public database of the container, in which two users may change what either has created.
private struct PublicWorld {
    let store: StorageFixture
    let key: ZoneKey
    let users: [UserID]
    let removed = RemovedAssets()
    /// Of 10,000, 20,000 and 30,000 bytes.
    static let assets = (1...3 as ClosedRange<UInt8>).map {
        FieldAsset(sha256: [UInt8](repeating: $0, count: 32), byteCount: Int64($0) * 10_000)
    }
    private static let container = ContainerKey(identifier: "iCloud.test", environment: .development)
    private static let names = (0..<6).map { "r\($0)" }
    private static let grants = ["Note": Grants([.world: .read, .authenticated: .all])]

    init(_ store: StorageFixture, share: PublicShare) async throws {
        self.store = store
        users = [try await store.alice().user, try await store.bob().user]
        let found = try await store.first.publicDatabase(of: Self.container, now: StorageFixture.now)
        key = ZoneKey(database: try require(found, "it is there").database, name: ZoneName.default)
        try await setShare(share, quota: nil)
    }

    func setShare(_ share: PublicShare, quota: Int64?) async throws {
        let quota = StorageQuota(publicBytes: quota, publicShare: share)
        try expect(try await store.first.setQuota(quota, of: Self.container), "the container is there")
        // Every server notices it at its next write transaction.
        for storage in [store.first, store.second] {
            let transaction = try await storage.beginWrite([key.read()])
            await transaction.rollback()
        }
    }

    @discardableResult
    func send(_ content: FieldAsset, from user: UserID, on storage: any Storage) async throws -> Bool {
        let asset = AssetKey(database: key.database, content: content)
        let removed = removed
        return try await storage.keepAsset(asset, from: user, now: StorageFixture.now) { removed.add(asset) }
    }

    private func request(
        _ counter: UInt64, saves: [RecordSave] = [], deletes: [String] = [], by user: UserID
    ) -> RecordsRequest {
        RecordsRequest(
            id: RequestID(device: DeviceID(high: 1, low: 1), counter: counter, lowestUnanswered: counter), key: key,
            saves: saves, deletes: deletes, policy: .changedKeys, isAtomic: false, user: user,
            access: RecordAccess(scope: .public, user: user, grants: Self.grants))
    }

    private func save(
        _ name: String, byteCount: Int, naming contents: [FieldAsset] = [], goesWith target: String? = nil
    ) -> RecordSave {
        var fields = [
            Field("blob", .bytes([UInt8](repeating: 1, count: byteCount))), Field("files", .assets(contents)),
        ]
        if contents.isEmpty { fields[1] = Field("files", .removed) }
        if let target {
            fields.append(Field("to", .reference(FieldReference(recordName: target, action: .deleteSelf))))
        }
        return RecordSave(
            name: name, type: "Note", tag: nil, fields: (try? FieldMap(fields)) ?? FieldMap(), parent: .unchanged)
    }

    @discardableResult
    func save(
        _ name: String, byteCount: Int, naming contents: [FieldAsset] = [], by user: UserID, _ counter: UInt64,
        on storage: any Storage
    ) async throws -> Bool {
        let draft = save(name, byteCount: byteCount, naming: contents)
        try await decide([request(counter, saves: [draft], by: user)], on: storage, true)
        return try await store.first.records(named: [name], in: key).records[name]?.isDeleted == false
    }

    func delete(_ names: [String], by user: UserID, _ counter: UInt64, on storage: any Storage) async throws {
        try await decide([request(counter, deletes: names, by: user)], on: storage, true)
    }

    /// A few saves and deletes of one of the users, with assets, and with references by which deletions take others along.
    func request(_ counter: UInt64, using random: inout StepRandom) -> RecordsRequest {
        var names = Self.names.shuffled(using: &random)
        let saves = (0..<Int.random(in: 0...3, using: &random)).map { _ in
            let target = Int.random(in: 0...2, using: &random) == 0 ? names.last : nil
            let name = names.removeFirst()
            return save(
                name, byteCount: Int.random(in: 0...200, using: &random),
                naming: Array(Self.assets.shuffled(using: &random).prefix(Int.random(in: 0...2, using: &random))),
                goesWith: target)
        }
        let deletes = Array(names.prefix(Int.random(in: 0...1, using: &random)))
        return request(counter, saves: saves, deletes: deletes, by: users[Int.random(in: 0...1, using: &random)])
    }

    /// One transaction, decided as a server does it.
    func decide(_ requests: [RecordsRequest], on storage: any Storage, _ isKept: Bool) async throws {
        let transaction = try await storage.beginWrite([ZoneRead(of: requests, in: key, limits: Limits())])
        let overlay = ZoneOverlay(snapshot: transaction.snapshots[0], store: transaction.store, limits: Limits())
        for request in requests { _ = overlay.apply(request, now: StorageFixture.now) }
        if isKept, let changes = overlay.changes {
            try await transaction.commit([changes])
        } else {
            await transaction.rollback()
        }
    }

    /// As the store counts it. Who has nothing is left out.
    func counted() async throws -> [UserID: Int64] {
        let transaction = try await store.second.beginWrite([key.read(users: users)])
        await transaction.rollback()
        let use = try require(transaction.snapshots[0].publicUse, "it is public")
        return use.byteCounts.filter { $0.value != 0 }
    }

    /// As it is, counted from scratch.
    func created() async throws -> [UserID: Int64] {
        let records = try await store.first.records(named: Self.names + ["a"], in: key).records.values
        return records.reduce(into: [:]) { sums, record in
            guard !record.isDeleted else { return }
            let assets = record.fields.assets.reduce(0) { $0 + $1.byteCount }
            let names = [record.name, record.type, record.parent ?? ""].reduce(0) { $0 + $1.utf8.count }
            sums[record.createdBy, default: 0] += Int64(record.fields.byteCount + names + 128) + assets
        }
    }
}
