// SPDX-License-Identifier: Apache-2.0

import CloudKit
import Synchronization
import Testing
import TidemarkTestKit

/// What app developers are promised of a `TestCloud`.
@Suite struct TestCloudTests {
    let cloud = TestCloud()
    var alice: TestAccount { cloud.account("alice") }

    /// Two devices that know the zone, and "shopping" on both.
    private func pair(automatically: Bool = true) async throws -> (
        phone: TestDevice, NotesDevice, laptop: TestDevice, NotesDevice
    ) {
        let (phone, laptop) = (alice.device("phone"), alice.device("laptop"))
        let notes = await NotesDevice(on: phone, automatically: automatically)
        let others = await NotesDevice(on: laptop, automatically: automatically)
        await notes.write("milk", to: "shopping")
        if automatically {
            try await cloud.settle()
        } else {
            try await notes.sync()
            try await others.sync()
        }
        #expect(await others.texts == ["shopping": "milk"])
        return (phone, notes, laptop, others)
    }

    @Test func `R-508: after settle an edit has reached the other device by push`() async throws {
        let (_, notes, _, others) = try await pair()
        await others.write("bread", to: "shopping")
        try await cloud.settle()
        #expect(await notes.texts == ["shopping": "bread"])
        #expect(cloud.clock.elapsed < .seconds(5), "no more time than pauses")
    }

    @Test func `R-507: an engine uses the subscription that is there, else it makes a silent one`() async throws {
        let cases: [(there: String?, wanted: String?, expected: [String])] = [
            (nil, nil, ["tidemark-sync-engine"]), ("own", nil, ["own"]), ("own", "own", ["own"]),
            ("own", "mine", ["mine", "own"]),
        ]
        for (number, (there, wanted, expected)) in cases.enumerated() {
            let account = cloud.account("account \(number)")
            let database = account.device("tool").container.privateCloudDatabase
            if let there { try await database.save(CKDatabaseSubscription(subscriptionID: there)) }
            // Two engines share it.
            let notes = await NotesDevice(on: account.device("phone"), subscriptionID: wanted)
            try await cloud.settle()
            let others = await NotesDevice(on: account.device("laptop"), subscriptionID: wanted)
            try await cloud.settle()
            let found = try await database.allSubscriptions()
            #expect(found.map(\.subscriptionID).sorted() == expected, "\(there ?? "-") \(wanted ?? "-")")
            for made in found where made.subscriptionID != there {
                #expect(made is CKDatabaseSubscription && made.notificationInfo?.shouldSendContentAvailable == true)
                #expect(made.notificationInfo?.alertBody == nil)
            }
            await notes.write("milk", to: "shopping")
            try await cloud.settle()
            #expect(await others.texts == ["shopping": "milk"], "pushes come by it")
        }
    }

    @Test func `R-204, R-211: an account that was never read here tells of no ends`() async throws {
        // Alice had a zone and a record of these names once, and deleted both.
        let database = alice.device("tool").container.privateCloudDatabase
        func end() async throws {
            try await database.save(NotesDevice.zone)
            try await database.save(CKRecord(recordType: "Note", recordID: NotesDevice.id("shopping")))
            try await database.deleteRecord(withID: NotesDevice.id("shopping"))
        }
        try await end()
        try await database.deleteRecordZone(withID: NotesDevice.zone.zoneID)
        try await end()
        let phone = cloud.account("bob").device("phone")
        let notes = await NotesDevice(on: phone)
        await notes.write("milk", to: "shopping")
        try await cloud.settle()
        phone.signOut()
        try await cloud.settle()
        await notes.write("bread", to: "shopping")
        try await cloud.settle()
        phone.signIn(alice)
        try await cloud.settle()
        #expect(await notes.events.filter { $0.hasPrefix("deleted") } == [])
        #expect(await notes.texts == ["shopping": "bread"])
        let saved = try await database.record(for: NotesDevice.id("shopping"))
        #expect(saved["text"] == "bread")
    }

    @Test func `R-505: in manual mode nothing happens by itself, however much time passes`() async throws {
        let (_, notes, _, others) = try await pair(automatically: false)
        await notes.write("bread", to: "shopping")
        try await cloud.clock.advance(by: .seconds(7_200))
        #expect(await notes.pendingCount == 1)
        try await notes.sync()
        try await others.sync()
        #expect(await others.texts == ["shopping": "bread"])
    }

    @Test func `edits of an offline device wait, and go out when it is online`() async throws {
        let (phone, notes, _, others) = try await pair()
        phone.goOffline()
        await notes.write("bread", to: "shopping")
        try await cloud.clock.advance(by: .seconds(600))
        #expect(await notes.pendingCount == 1)
        #expect(await others.texts == ["shopping": "milk"])
        let error = await #expect(throws: CKError.self) {
            try await phone.container.privateCloudDatabase.allRecordZones()
        }
        #expect([.networkUnavailable, .networkFailure].contains(error?.code))
        phone.goOnline()
        try await cloud.settle()
        #expect(await others.texts == ["shopping": "bread"])
        #expect(try await phone.container.privateCloudDatabase.allRecordZones().count == 2)
    }

    @Test func `R-094: somebody else's edit makes a conflict for a device that has not heard of it`() async throws {
        let (phone, notes, _, _) = try await pair()
        phone.goOffline()
        await notes.write("bread", to: "shopping")
        try await alice.edit(NotesDevice.id("shopping")) { $0["text"] = "eggs" }
        phone.goOnline()
        try await cloud.settle()
        #expect(await notes.texts == ["shopping": "eggs"])
    }

    @Test func `R-157: a lost answer is asked for again, and the change is carried out once`() async throws {
        let phone = alice.device("phone")
        let database = phone.container.privateCloudDatabase
        try await database.save(NotesDevice.zone)
        phone.loseNextAnswer()
        let saved = try await database.save(CKRecord(recordType: "Note", recordID: NotesDevice.id("shopping")))
        #expect(phone.lostAnswerCount == 1)
        #expect(try await alice.database.record(for: saved.recordID).recordChangeTag == saved.recordChangeTag)
        let changes = try await alice.database.recordZoneChanges(inZoneWith: NotesDevice.zone.zoneID, since: nil)
        #expect(changes.modificationResultsByID.count == 1)
    }

    @Test func `R-372, R-374: a throttled device is told how long to wait, and its engine waits as long`() async throws
    {
        let (phone, notes, laptop, others) = try await pair()
        phone.throttle(for: .seconds(30))
        await notes.write("bread", to: "shopping")
        try await cloud.settle()
        let error = await #expect(throws: CKError.self) {
            try await phone.container.privateCloudDatabase.allRecordZones()
        }
        #expect(error?.code == .requestRateLimited)
        #expect((29...30).contains(error?.retryAfterSeconds ?? 0))
        // Others are answered.
        #expect(try await laptop.container.privateCloudDatabase.allRecordZones().count == 2)
        try await cloud.clock.advance(by: .seconds(29))
        let late = await #expect(throws: CKError.self) {
            try await phone.container.privateCloudDatabase.allRecordZones()
        }
        #expect(late?.code == .requestRateLimited && (0...1).contains(late?.retryAfterSeconds ?? -1))
        #expect(await others.texts == ["shopping": "milk"])
        // R-374: at most a tenth later.
        try await cloud.clock.advance(by: .seconds(4))
        #expect(await others.texts == ["shopping": "bread"])
    }

    @Test func `R-220, R-552: expired tokens are refused, and engines begin anew by themselves`() async throws {
        let (phone, notes, laptop, others) = try await pair()
        let database = phone.container.privateCloudDatabase
        let token = try await database.recordZoneChanges(inZoneWith: NotesDevice.zone.zoneID, since: nil).changeToken
        laptop.goOffline()
        await notes.write("bread", to: "shopping")
        try await cloud.settle()
        cloud.expireTokens()
        let error = await #expect(throws: CKError.self) {
            try await database.recordZoneChanges(inZoneWith: NotesDevice.zone.zoneID, since: token)
        }
        #expect(error?.code == .changeTokenExpired)
        laptop.goOnline()
        try await cloud.settle()
        #expect(await others.texts == ["shopping": "bread"])
    }

    @Test func `R-221: when deletions are forgotten, tokens from before them expire, and later ones do not`()
        async throws
    {
        let database = alice.device("phone").container.privateCloudDatabase
        try await database.save(NotesDevice.zone)
        try await database.save(CKRecord(recordType: "Note", recordID: NotesDevice.id("shopping")))
        let zoneID = NotesDevice.zone.zoneID
        let before = try await database.recordZoneChanges(inZoneWith: zoneID, since: nil).changeToken
        try await database.deleteRecord(withID: NotesDevice.id("shopping"))
        let after = try await database.recordZoneChanges(inZoneWith: zoneID, since: before).changeToken
        cloud.forgetDeletions()
        let error = await #expect(throws: CKError.self) {
            try await database.recordZoneChanges(inZoneWith: zoneID, since: before)
        }
        #expect(error?.code == .changeTokenExpired)
        #expect(try await database.recordZoneChanges(inZoneWith: zoneID, since: after).deletions.isEmpty)
    }

    @Test func `R-732: where very many records were deleted, a first fetch goes on to the living ones`() async throws {
        let (phone, notes, _, _) = try await pair(automatically: false)
        let zoneID = NotesDevice.zone.zoneID
        let database = phone.container.privateCloudDatabase
        // More than one read of a page passes over.
        for round in 0..<14 {
            let ids = (0..<400).map { NotesDevice.id("gone \(round) \($0)") }
            let records = ids.map { CKRecord(recordType: "Note", recordID: $0) }
            _ = try await database.modifyRecords(saving: records, deleting: [])
            _ = try await database.modifyRecords(saving: [], deleting: ids)
        }
        await notes.write("bread", to: "shopping")
        try await notes.sync()

        let other = alice.device("tablet").container.privateCloudDatabase
        let first = try await other.recordZoneChanges(inZoneWith: zoneID, since: nil)
        #expect(first.modificationResultsByID.isEmpty && first.deletions.isEmpty && first.moreComing)
        let names = Mutex<[String]>([])
        let operation = CKFetchRecordZoneChangesOperation(recordZoneIDs: [zoneID])
        operation.recordWasChangedBlock = { id, _ in names.withLock { $0.append(id.recordName) } }
        operation.recordWithIDWasDeletedBlock = { id, _ in names.withLock { $0.append("-" + id.recordName) } }
        try await withCheckedThrowingContinuation { (done: CheckedContinuation<Void, any Error>) in
            operation.fetchRecordZoneChangesResultBlock = { done.resume(with: $0) }
            other.add(operation)
        }
        #expect(names.withLock { $0 } == ["shopping"])
        let engine = await NotesDevice(on: alice.device("desk"), automatically: false)
        try await engine.sync()
        #expect(await engine.texts == ["shopping": "bread"])
    }

    @Test func `R-205: devices hear why a zone is gone`() async throws {
        let (_, notes, _, others) = try await pair()
        try alice.purge(NotesDevice.zone.zoneID)
        try await cloud.settle()
        #expect(await notes.events.last == "deleted Notes: purged")
        #expect(await others.events.last == "deleted Notes: purged")
        let id = NotesDevice.id("shopping")
        let error = await #expect(throws: CKError.self) {
            try await alice.database.save(CKRecord(recordType: "Note", recordID: id))
        }
        #expect(error?.code == .userDeletedZone)
        try await alice.database.save(NotesDevice.zone)
        try alice.resetEncryptedData(in: NotesDevice.zone.zoneID)
        try await cloud.settle()
        #expect(await others.events.last == "deleted Notes: encryptedDataReset")
    }

    @Test func `R-563: account changes reach the engine, and data of one account is not another's`() async throws {
        let (phone, notes, _, others) = try await pair()
        phone.signOut()
        try await cloud.settle()
        #expect(await notes.texts.isEmpty)
        phone.signIn(cloud.account("bob"))
        try await cloud.settle()
        #expect(await notes.texts.isEmpty)
        phone.signIn(alice)
        try await cloud.settle()
        #expect(await notes.events == ["signIn", "signOut", "signIn", "switchAccounts"])
        #expect(await notes.texts == ["shopping": "milk"])
        #expect(await others.texts == ["shopping": "milk"])
    }

    @Test func `R-354, R-567: a refused credential is no account change, and all goes on when it is good again`()
        async throws
    {
        let (phone, notes, _, others) = try await pair()
        alice.suspend()
        try await cloud.settle()
        await notes.write("bread", to: "shopping")
        try await cloud.clock.advance(by: .seconds(600))
        #expect(try await phone.container.accountStatus() == .temporarilyUnavailable)
        #expect(await others.texts == ["shopping": "milk"])
        alice.resume()
        try await cloud.settle()
        #expect(try await phone.container.accountStatus() == .available)
        #expect(await others.texts == ["shopping": "bread"])
        let events = await notes.events
        #expect(events == ["signIn"])
    }

    @Test func `R-354, R-573: what was on its way when the credential was refused is told, and sent again`()
        async throws
    {
        let (_, notes, _, others) = try await pair()
        await notes.write("bread", to: "shopping")
        alice.suspend()
        try await cloud.clock.advance(by: .seconds(600))
        alice.resume()
        try await cloud.settle()
        #expect(await others.texts == ["shopping": "bread"])
        let events = await notes.events
        #expect(events.first == "signIn")
        #expect(events.dropFirst().allSatisfy { $0 == "failed shopping: accountTemporarilyUnavailable" })
    }

    @Test func `settle waits for delegates that live on an actor of the app's`() async throws {
        let screen = await Screen(on: alice.device("phone"))
        try await alice.database.save(NotesDevice.zone)
        try await cloud.settle()
        #expect(await screen.zoneNames == ["Notes"])
    }

    @Test func `a cut connection comes back at once, also where time stands still`() async throws {
        let (phone, _, _, _) = try await pair(automatically: false)
        for _ in 0..<3 {
            phone.cutConnections()
            #expect(try await phone.container.privateCloudDatabase.allRecordZones().count == 2)
        }
    }

    @Test func `run moves the time to what is planned, and no further than it has to`() async throws {
        let (phone, notes, _, others) = try await pair()
        phone.throttle(for: .seconds(100))
        await notes.write("bread", to: "shopping")
        let begin = cloud.clock.elapsed
        try await cloud.run { await others.texts == ["shopping": "bread"] }
        #expect((.seconds(100)...Duration.seconds(115)).contains(cloud.clock.elapsed - begin))
    }

    @Test func `a restart of the server loses nothing`() async throws {
        let (_, notes, _, others) = try await pair()
        cloud.restartServer()
        await notes.write("bread", to: "shopping")
        try await cloud.settle()
        #expect(await others.texts == ["shopping": "bread"])
    }

    @Test func `R-067: encrypted values and assets work without a server's keys and files`() async throws {
        let (phone, laptop) = (alice.device("phone"), alice.device("laptop"))
        try await phone.container.privateCloudDatabase.save(NotesDevice.zone)
        let record = CKRecord(recordType: "Note", recordID: NotesDevice.id("secret"))
        record.encryptedValues["text"] = "milk"
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).txt")
        try Data("an asset".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        record["file"] = CKAsset(fileURL: file)
        try await phone.container.privateCloudDatabase.save(record)
        let fetched = try await laptop.container.privateCloudDatabase.record(for: record.recordID)
        #expect(fetched.encryptedValues["text"] == "milk")
        let asset: CKAsset? = fetched["file"]
        #expect(try asset?.fileURL.map { try Data(contentsOf: $0) } == Data("an asset".utf8))
    }

    @Test func `R-071: equal contents in one record are a file each, so that an app can move every one`() async throws {
        let (phone, laptop) = (alice.device("phone"), alice.device("laptop"))
        try await phone.container.privateCloudDatabase.save(NotesDevice.zone)
        let record = CKRecord(recordType: "Note", recordID: NotesDevice.id("album"))
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).txt")
        try Data("an asset".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        record["cover"] = CKAsset(fileURL: file)
        record["pages"] = [CKAsset(fileURL: file), CKAsset(fileURL: file)]
        try await phone.container.privateCloudDatabase.save(record)
        let fetched = try await laptop.container.privateCloudDatabase.record(for: record.recordID)
        let pages = try #require(fetched["pages"] as? [CKAsset])
        let assets = try [#require(fetched["cover"] as? CKAsset)] + pages
        #expect(pages.count == 2)
        for asset in assets {
            let url = try #require(asset.fileURL)
            #expect(try Data(contentsOf: url) == Data("an asset".utf8))
            try FileManager.default.removeItem(at: url)
        }
    }

    @Test func `R-003: databases are the same as long as anybody has them, and go with their container`() async throws {
        weak var container: CKContainer?
        weak var context: CloudContext?
        do {
            let phone = alice.device("phone")
            container = phone.container
            context = phone.container.context
            let database = phone.container.privateCloudDatabase
            #expect(database === phone.container.database(with: .private))
            try await database.save(NotesDevice.zone)
        }
        do {
            // Nobody but the operation has the database.
            let laptop = alice.device("laptop")
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                let operation = CKFetchRecordZonesOperation(recordZoneIDs: [NotesDevice.zone.zoneID])
                operation.fetchRecordZonesResultBlock = { continuation.resume(with: $0) }
                laptop.container.privateCloudDatabase.add(operation)
            }
        }
        try await cloud.settle()
        // Threads may still be on their way out of what has been answered.
        for _ in 0..<10_000 where container != nil || context != nil { await Task.yield() }
        #expect(container == nil && context == nil)
    }

    @Test func `an account that several threads ask for is one, and is suspended as one`() async throws {
        let accounts = (0..<300).map { number in
            let arrived = Atomic(0)
            DispatchQueue.concurrentPerform(iterations: 2) { _ in
                arrived.add(1, ordering: .relaxed)
                // At the same moment, if there is a second thread.
                for _ in 0..<100_000 where arrived.load(ordering: .relaxed) < 2 {}
                _ = cloud.account("account \(number)")
            }
            return cloud.account("account \(number)")
        }
        for account in accounts { account.suspend() }
        // All at once: one by one they would wait long for other tests.
        let statuses = try await withThrowingTaskGroup(of: CKAccountStatus.self) { group in
            for account in accounts {
                group.addTask { try await account.device("phone").container.accountStatus() }
            }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(statuses == [.temporarilyUnavailable])
    }

    // MARK: Mistakes of tests

    @Test func `a zone that there is not is named`() async throws {
        let error = #expect(throws: TestCloudError.self) { try alice.purge(CKRecordZone.ID(zoneName: "Notes")) }
        #expect(error?.code == .zoneUnknown && error?.description.contains("alice has no zone Notes") == true)
    }

    @Test func `two devices of one name stop the test`() async throws {
        await #expect(processExitsWith: .failure) {
            let alice = TestCloud().account("alice")
            _ = alice.device("phone")
            _ = alice.device("phone")
        }
    }

    @Test func `what never comes about is an error when its time is over`() async throws {
        let error = await #expect(throws: TestCloudError.self) {
            try await cloud.run(within: .seconds(60)) { false }
        }
        #expect(error?.code == .notInTime)
    }
}
