// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkDomain
internal import TidemarkFields
internal import TidemarkScheduling
internal import TidemarkService

extension StorageConformance {
    static let quotas: [Scenario] = [
        Scenario("R-011: each private database has the container's quota, the public one its own") { store in
            let (alice, bob) = (try await store.alice(), try await store.bob())
            let container = ContainerKey(identifier: "iCloud.test", environment: .development)
            let found = try await store.first.publicDatabase(of: container, now: StorageFixture.now)
            let databases = [
                alice.privateDatabase, bob.privateDatabase, try require(found, "it is there").database,
            ]
            func uses(on storage: any Storage) async throws -> [StorageUse?] {
                let reads = databases.map { ZoneKey(database: $0, name: ZoneName.default).read() }
                let transaction = try await storage.beginWrite(reads)
                await transaction.rollback()
                let seen = transaction.snapshots.map(\.storageUse)
                for (database, use) in zip(databases, seen) {
                    try expectEqual(try await storage.storageUse(of: database), use, "the same without a transaction")
                }
                return seen
            }
            for storage in [store.first, store.second] {
                try expectEqual(try await uses(on: storage), [nil, nil, nil], "nobody has chosen")
            }
            let mine = StorageUse(byteCount: 0, bytesMax: 1_000)
            try expect(try await store.first.setQuota(StorageQuota(privateBytes: 1_000), of: container), "chosen")
            for storage in [store.second, store.first] {
                try expectEqual(try await uses(on: storage), [mine, mine, nil], "every server knows it at once")
            }
            let quota = StorageQuota(privateBytes: nil, publicBytes: 5)
            try expect(try await store.second.setQuota(quota, of: container), "chosen anew")
            for storage in [store.first, store.second] {
                try expectEqual(
                    try await uses(on: storage), [nil, nil, StorageUse(byteCount: 0, bytesMax: 5)], "and that")
            }
            for key in [
                ContainerKey(identifier: "iCloud.test", environment: .production),
                ContainerKey(identifier: "iCloud.strange", environment: .development),
            ] {
                try expect(!(try await store.first.setQuota(quota, of: key)), "not there")
            }
        },
        Scenario("R-706: what a database holds is the sum of its living records and its assets, whatever happens") {
            store in
            let world = try await QuotaWorld(store)
            var random = StepRandom(state: 706)
            var counter: UInt64 = 0
            for step in 0..<80 {
                let zone = world.zones[Int.random(in: 0...1, using: &random)]
                let requests = (0...Int.random(in: 0...2, using: &random)).map { _ in
                    counter += 1
                    return world.request(counter, in: zone, using: &random)
                }
                let isKept = Int.random(in: 0...4, using: &random) > 0
                try await world.decide(requests, in: zone, on: step % 2 == 0 ? store.first : store.second, isKept)
                try expectEqual(try await world.byteCount(), try await world.livingByteCount(), "after step \(step)")
                try expectEqual(try await world.tombstoneBytes(), try await world.deletedByteCount(), "and the deleted")
                // with cascades, parents and atomic batches.
                for zone in world.zones { try await store.expectDigest(of: zone, "after step \(step)") }
            }
            try expect(try await world.byteCount() > 0, "something is left")
            let others = try await store.second.storageUse(of: try await store.bob().privateDatabase)
            try expectEqual(others?.byteCount, 0, "another user's database has nothing of it")

            let assets = (1...3).map { number in
                let content = FieldAsset(
                    sha256: [UInt8](repeating: UInt8(number), count: 32), byteCount: Int64(number) * 100)
                return AssetKey(database: world.database, content: content)
            }
            let records = try await world.livingByteCount()
            for storage in [store.first, store.second] {
                try await storage.keepAsset(assets[0], now: StorageFixture.now)
                try expectEqual(try await world.byteCount(), records + 100, "an asset counts once")
            }
            let found = try await store.first.adoptAssets(assets, now: StorageFixture.now)
            try expectEqual(found, 2, "one was known")
            try expectEqual(try await world.byteCount(), records + 600, "those that were found")
            let later = Timestamp(milliseconds: StorageFixture.now.milliseconds + 1)
            for (isRemoved, left) in [(false, Int64(600)), (true, 400), (true, 400)] {
                _ = try await store.first.forgetAsset(assets[1], touchedBefore: later) { isRemoved }
                try expectEqual(try await world.byteCount(), records + left, "until they are forgotten, once")
            }
            try await store.changeZones(in: world.database, remove: world.zones.map(\.name))
            try expectEqual(try await world.byteCount(), 400, "with a zone its records go")
            try await store.createZones("a", in: world.database)
            try expectEqual(try await world.byteCount(), 400, "and do not come back")
        },
        Scenario("R-755: tombstones are counted whatever happens, and are forgotten when there are too many") { store in
            let world = try await QuotaWorld(store)
            var random = StepRandom(state: 755)
            for counter in 1...40 as ClosedRange<UInt64> {
                let zone = world.zones[Int(counter % 2)]
                try await world.decide(
                    [world.request(counter, in: zone, using: &random)], in: zone, on: store.first, true)
            }
            let some = ["stays", "goes"].map { world.save($0, byteCount: 9) }
            for zone in world.zones {
                let requests = [
                    world.request(41, in: zone, saves: some), world.request(42, in: zone, deletes: ["goes"]),
                ]
                try await world.decide(requests, in: zone, on: store.second, true)
            }
            let living = try await world.byteCount()
            try expect(try await world.tombstoneBytes() >= 2 * (128 + 4), "there are some")
            let before = try await world.states()
            let tombstoneBytes = try await world.tombstoneBytes()
            try await store.second.forgetTombstones(of: world.database)
            try expect(try await world.tombstoneBytes() <= tombstoneBytes / 2, "half of them are forgotten")
            for _ in 1...20 where try await world.tombstoneBytes() > 0 {
                try await store.second.forgetTombstones(of: world.database)
            }
            try expectEqual(try await world.tombstoneBytes(), 0, "all are forgotten")
            try expectEqual(try await world.deletedByteCount(), 0, "and gone")
            try expectEqual(try await world.byteCount(), living, "the living records count as before")
            try expectEqual(try await world.livingByteCount(), living, "and are there")
            for (old, new) in zip(before, try await world.states()) {
                try expect(new.oldestTokenNumber > old.oldestTokenNumber, "older tokens are expired")
                try expectEqual(new.changeNumber, old.changeNumber, "and the newest are not")
            }
            for counter in 43...60 as ClosedRange<UInt64> {
                let zone = world.zones[Int(counter % 2)]
                try await world.decide(
                    [world.request(counter, in: zone, using: &random)], in: zone, on: store.first, true)
                try expectEqual(try await world.tombstoneBytes(), try await world.deletedByteCount(), "counted on")
            }
            try await store.changeZones(in: world.database, remove: world.zones.map(\.name))
            try await store.createZones("a", in: world.database)
            try expectEqual(try await world.tombstoneBytes(), 0, "with a zone its tombstones go")
        },
        Scenario("R-751, R-962: an account's quota holds over all containers, beside the container's, also at once") {
            store in
            let alice = try await store.alice()
            let other = try require(
                try await store.first.identity(
                    credentialHash: StorageConformance.Credentials.alice, container: "iCloud.other",
                    environment: .development, containersMax: .max, now: StorageFixture.now), "a second container")
            let bob = try await store.bob()
            let databases = [alice.privateDatabase, other.privateDatabase]
            @Sendable func asset(_ number: UInt8, in database: DatabaseID) -> AssetKey {
                let content = FieldAsset(sha256: [UInt8](repeating: number, count: 32), byteCount: 400)
                return AssetKey(database: database, content: content)
            }
            @Sendable func keep(_ asset: AssetKey, on storage: any Storage) async throws(StorageError) -> Bool {
                try await storage.keepAsset(asset, from: nil, now: StorageFixture.now) {}
            }
            func uses(_ database: DatabaseID, on storage: any Storage) async throws -> (StorageUse?, AccountUse?) {
                let read = ZoneKey(database: database, name: ZoneName.default).read()
                let transaction = try await storage.beginWrite([read])
                await transaction.rollback()
                let snapshot = transaction.snapshots[0]
                try expectEqual(
                    try await storage.storageUse(of: database),
                    StorageUse.tighter(snapshot.storageUse, snapshot.accountUse?.use), "the same without a transaction")
                return (snapshot.storageUse, snapshot.accountUse)
            }
            for storage in [store.first, store.second] {
                for database in databases { try expect(try await uses(database, on: storage).1 == nil, "no quota") }
            }
            try expect(try await store.first.setAccountQuota(1_000, of: alice.account), "chosen")
            try expect(try await !store.first.setAccountQuota(1_000, of: AccountID(999_999)), "nobody")
            for storage in [store.second, store.first] {
                _ = try await uses(databases[0], on: storage)
                try expect(try await uses(bob.privateDatabase, on: storage).1 == nil, "not bob's")
            }
            let keeping = (1...4).map { number in
                store.scheduler.runThrowing {
                    let asset = asset(UInt8(number), in: databases[number % 2])
                    return try await keep(asset, on: number < 3 ? store.first : store.second)
                }
            }
            var count = 0
            for call in keeping { count += try await call.value ? 1 : 0 }
            try expectEqual(count, 2, "there is room for two, in whatever containers")
            let use = StorageUse(byteCount: 800, bytesMax: 1_000, isOfAccount: true)
            for storage in [store.first, store.second] {
                for database in databases {
                    try expectEqual(
                        try await uses(database, on: storage).1, AccountUse(account: alice.account, use: use), "of both"
                    )
                }
            }
            let container = ContainerKey(identifier: "iCloud.test", environment: .development)
            try expect(try await store.first.setQuota(StorageQuota(privateBytes: 5_000), of: container), "chosen")
            _ = try await uses(databases[0], on: store.second)
            try expectEqual(try await store.second.storageUse(of: databases[0]), use, "the one with less room")
            let told = QuotaStanding(bytesMax: 1_000, byteCount: 800)
            try expectEqual(try await store.alice().quota, told, "who connects is told of it")
            let none = QuotaStanding(bytesMax: 5_000, byteCount: 0)
            try expectEqual(try await store.bob().quota, none, "bob has the container's alone")
            try expect(try await store.first.setQuota(StorageQuota(privateBytes: 100), of: container), "chosen")
            _ = try await uses(databases[0], on: store.second)
            let own = try await uses(databases[0], on: store.second).0
            try expectEqual(own?.bytesMax, 100, "the container's")
            try expectEqual(
                try await store.alice().quota, QuotaStanding(bytesMax: 100, byteCount: own?.byteCount),
                "now the container's leaves less")
            try expect(try await store.first.setQuota(StorageQuota(privateBytes: 5_000), of: container), "and back")
            // That of all accounts is for those that have none of their own.
            try expect(try await store.second.setAccountQuota(300, of: nil), "chosen")
            _ = try await uses(databases[0], on: store.second)
            try expectEqual(try await uses(bob.privateDatabase, on: store.second).1?.use.bytesMax, 300, "bob's")
            try expectEqual(try await uses(databases[1], on: store.second).1?.use.bytesMax, 1_000, "alice's own")
            try expect(try await !keep(asset(9, in: bob.privateDatabase), on: store.second), "bob has no room")
        },
        Scenario("R-962: who signs in is told of a quota, and not what is used if there are very many zones") { store in
            let container = ContainerKey(identifier: "iCloud.test", environment: .development)
            let bob = try await store.bob()
            try expect(try await store.first.setQuota(StorageQuota(privateBytes: 5_000), of: container), "chosen")
            // The default zone is there.
            let names = (1..<QuotaStanding.zonesMax).map { "z\($0)" }
            try await store.changeZones(in: bob.privateDatabase, create: names)
            let known = QuotaStanding(bytesMax: 5_000, byteCount: 0)
            try expectEqual(try await store.bob().quota, known, "as many as are counted")
            try await store.changeZones(in: bob.privateDatabase, create: ["more"])
            let unknown = QuotaStanding(bytesMax: 5_000, byteCount: nil)
            try expectEqual(try await store.bob().quota, unknown, "one more")
            try expect(try await store.first.setAccountQuota(7_000, of: bob.account), "chosen")
            try expectEqual(try await store.bob().quota, unknown, "the smaller of both")
            // In another container there are few, and in all of them too many.
            let elsewhere = try await store.first.identity(
                credentialHash: Credentials.bob, container: "iCloud.other", environment: .development,
                containersMax: .max, now: StorageFixture.now)
            try expectEqual(elsewhere?.quota, QuotaStanding(bytesMax: 7_000, byteCount: nil), "of the account")
            try await store.changeZones(in: bob.privateDatabase, remove: ["more", "z1"])
            try expectEqual(try await store.bob().quota, known, "zones that have ended do not count")
        },
        Scenario("R-745: assets that end at the same moment do not fill the same room") { store in
            let world = try await QuotaWorld(store)
            let container = ContainerKey(identifier: "iCloud.test", environment: .development)
            let quota = StorageQuota(privateBytes: 1_000)
            try expect(try await store.first.setQuota(quota, of: container), "the container is there")
            let assets = (1...4).map { number in
                let content = FieldAsset(sha256: [UInt8](repeating: UInt8(number), count: 32), byteCount: 400)
                return AssetKey(database: world.database, content: content)
            }
            let removed = RemovedAssets()
            @Sendable func keep(_ asset: AssetKey, on storage: any Storage) async throws(StorageError) -> Bool {
                try await storage.keepAsset(asset, from: nil, now: StorageFixture.now) { removed.add(asset) }
            }
            let keeping = assets.enumerated().map { number, asset in
                store.scheduler.runThrowing { try await keep(asset, on: number % 2 == 0 ? store.first : store.second) }
            }
            var kept: [AssetKey] = []
            for (asset, call) in zip(assets, keeping) {
                if try await call.value { kept.append(asset) }
            }
            try expectEqual(kept.count, 2, "there is room for two")
            try expectEqual(try await world.byteCount(), 800, "and they count")
            try expectEqual(removed.all, Set(assets).subtracting(kept), "the others were removed, and nothing else")
            for asset in kept { try expect(try await keep(asset, on: store.second), "what is there needs no room") }
            try expectEqual(removed.all.count, 2, "and stays")
        },
        Scenario("R-011: two transactions in zones of one database do not fill the same room") { store in
            let world = try await QuotaWorld(store)
            let saves = [world.save("r", byteCount: 100)]
            let first = try await store.first.beginWrite([world.zones[0].read(records: ["r"])])
            let other = store.scheduler.runThrowing { () async throws -> StorageUse? in
                let second = try await store.second.beginWrite([world.zones[1].read(records: ["r"])])
                await second.rollback()
                return second.snapshots[0].storageUse
            }
            try await store.passTime()
            let overlay = ZoneOverlay(snapshot: first.snapshots[0], store: first.store, limits: Limits())
            _ = overlay.apply(world.request(1, in: world.zones[0], saves: saves), now: StorageFixture.now)
            try expect(overlay.byteGrowth >= 100, "it grows")
            try await first.commit([try require(overlay.changes, "something changed")])
            try expectEqual(try await other.value?.byteCount, overlay.byteGrowth, "the second waited for the first")
        },
    ]
}

/// What a store had removed, because there was no room for it.
final class RemovedAssets: Sendable {
    private let assets = Mutex<Set<AssetKey>>([])

    var all: Set<AssetKey> { assets.withLock { $0 } }
    var count: Int { all.count }
    func add(_ asset: AssetKey) { assets.withLock { _ = $0.insert(asset) } }
}

/// Two zones of alice's, in a container whose private databases have a quota.
private struct QuotaWorld {
    let store: StorageFixture
    let database: DatabaseID
    let zones: [ZoneKey]
    private static let names = (0..<6).map { "r\($0)" }
    /// Others that a scenario saves.
    private static let otherNames = ["stays", "goes"]

    init(_ store: StorageFixture) async throws {
        self.store = store
        let database = try await store.alice().privateDatabase
        self.database = database
        zones = try await store.createZones("a", "b", in: database).map(\.key)
        let quota = StorageQuota(privateBytes: 1 << 40)
        let container = ContainerKey(identifier: "iCloud.test", environment: .development)
        try expect(try await store.first.setQuota(quota, of: container), "the container is there")
    }

    func save(
        _ name: String, type: String = "Note", byteCount: Int, goesWith target: String? = nil,
        parent: ParentChange = .unchanged
    ) -> RecordSave {
        var fields = [Field("blob", .bytes([UInt8](repeating: 1, count: byteCount)))]
        if let target {
            fields.append(Field("to", .reference(FieldReference(recordName: target, action: .deleteSelf))))
        }
        return RecordSave(
            name: name, type: type, tag: nil, fields: (try? FieldMap(fields)) ?? FieldMap(), parent: parent)
    }

    func request(_ counter: UInt64, in zone: ZoneKey, saves: [RecordSave] = [], deletes: [String] = [])
        -> RecordsRequest
    {
        RecordsRequest(
            id: RequestID(
                device: DeviceID(high: 1, low: 1), counter: counter, lowestUnanswered: counter),
            key: zone, saves: saves, deletes: deletes, policy: .changedKeys, isAtomic: counter % 3 == 0,
            user: UserID(1), access: .owner(UserID(1)))
    }

    /// A few saves and deletes, with parents and with deleteSelf references. Whoever comes back may have another type.
    func request(_ counter: UInt64, in zone: ZoneKey, using random: inout StepRandom) -> RecordsRequest {
        var names = Self.names.shuffled(using: &random)
        let saves = (0..<Int.random(in: 0...3, using: &random)).map { _ in
            let name = names.removeLast()
            let other = Bool.random(using: &random) ? Self.names.randomElement(using: &random) : nil
            return save(
                name, type: Bool.random(using: &random) ? "Note" : "Folder",
                byteCount: Int.random(in: 0...200, using: &random), goesWith: other,
                parent: Int.random(in: 0...3, using: &random) == 0 ? .set(names[0]) : .removed)
        }
        let deletes = names.prefix(Int.random(in: 0...1, using: &random))
        return request(counter, in: zone, saves: saves, deletes: Array(deletes))
    }

    /// One transaction, decided as a server does it.
    func decide(_ requests: [RecordsRequest], in zone: ZoneKey, on storage: any Storage, _ isKept: Bool) async throws {
        let transaction = try await storage.beginWrite([ZoneRead(of: requests, in: zone, limits: Limits())])
        let overlay = ZoneOverlay(snapshot: transaction.snapshots[0], store: transaction.store, limits: Limits())
        for request in requests { _ = overlay.apply(request, now: StorageFixture.now) }
        if isKept, let changes = overlay.changes {
            try await transaction.commit([changes])
        } else {
            await transaction.rollback()
        }
    }

    /// The bytes as the store counts them.
    func byteCount() async throws -> Int64 {
        let use = try await store.second.storageUse(of: database)
        return try require(use, "there is a quota").byteCount
    }

    /// The bytes of tombstones as the store counts them.
    func tombstoneBytes() async throws -> Int64 {
        let transaction = try await store.second.beginWrite([zones[0].read()])
        await transaction.rollback()
        return transaction.snapshots[0].tombstoneBytes
    }

    /// The zones as they are now.
    func states() async throws -> [ZoneState] {
        try await store.first.zones(named: zones.map(\.name), in: database).sorted { $0.id < $1.id }
    }

    /// The bytes as they are, counted from scratch.
    func livingByteCount() async throws -> Int64 {
        try await records().reduce(0) { sum, record in
            guard !record.isDeleted else { return sum }
            let names = [record.name, record.type, record.parent ?? ""]
            return names.reduce(sum + Int64(record.fields.byteCount + 128)) { $0 + Int64($1.utf8.count) }
        }
    }

    /// The same for tombstones.
    func deletedByteCount() async throws -> Int64 {
        try await records().reduce(0) { $0 + ($1.isDeleted ? Int64($1.name.utf8.count + 128) : 0) }
    }

    private func records() async throws -> [RecordState] {
        var records: [RecordState] = []
        for zone in zones {
            records += try await store.first.records(named: Self.names + Self.otherNames, in: zone).records.values
        }
        return records
    }
}
