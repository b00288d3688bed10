// SPDX-License-Identifier: Apache-2.0

import CloudKit
import Testing
import TidemarkTestKit
import TidemarkTestSupport

/// The tests of the article "Testing your sync code" that need no server.
@Suite struct NotesInMemoryTests {
    let cloud = TestCloud()
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    func notes(on device: TestDevice) async throws -> Notes {
        let notes = try Notes(file: URL(fileURLWithPath: directory.path).appendingPathComponent("\(device.name).json"))
        await notes.start(in: device.container.privateCloudDatabase)
        return notes
    }

    @Test func `an edit reaches the other device`() async throws {
        let alice = cloud.account("alice")
        let phone = try await notes(on: alice.device("phone"))
        let laptop = try await notes(on: alice.device("laptop"))

        try await phone.write("milk", to: "shopping")
        try await cloud.settle()
        #expect(await laptop.library.notes["shopping"]?.text == "milk")
    }

    @Test func `two edits of one note meet, and both devices end equal`() async throws {
        let alice = cloud.account("alice")
        let plane = alice.device("phone")
        let (phone, laptop) = (try await notes(on: plane), try await notes(on: alice.device("laptop")))
        try await phone.write("milk", to: "shopping")
        try await cloud.settle()

        plane.goOffline()
        try await phone.write("milk, bread", to: "shopping")
        try await laptop.write("milk, eggs", to: "shopping")
        try await cloud.settle()
        #expect(await phone.library.notes["shopping"]?.text == "milk, bread")

        plane.goOnline()
        try await cloud.settle()
        let texts = await [phone.library.notes["shopping"]?.text, laptop.library.notes["shopping"]?.text]
        #expect(texts[0] == texts[1])
    }

    @Test func `a throttled device sends when its time has come`() async throws {
        let alice = cloud.account("alice")
        let device = alice.device("phone")
        let (phone, laptop) = (try await notes(on: device), try await notes(on: alice.device("laptop")))
        try await cloud.settle()

        device.throttle(for: .seconds(30))
        try await phone.write("milk", to: "shopping")
        try await cloud.clock.advance(by: .seconds(29))
        #expect(await laptop.library.notes["shopping"] == nil)
        try await cloud.clock.advance(by: .seconds(5))
        #expect(await laptop.library.notes["shopping"]?.text == "milk")
    }

    @Test func `what goes wrong leaves both devices equal`() async throws {
        let alice = cloud.account("alice")
        let device = alice.device("phone")
        let (phone, laptop) = (try await notes(on: device), try await notes(on: alice.device("laptop")))
        try await phone.write("milk", to: "shopping")
        try await cloud.settle()

        device.loseNextAnswer()
        try await phone.write("bread", to: "shopping")
        try await cloud.settle()
        cloud.expireTokens()
        try await alice.edit(CKRecord.ID(recordName: "shopping", zoneID: CKRecordZone.ID(zoneName: "Notes"))) {
            $0["text"] = "eggs"
        }
        try await cloud.settle()
        #expect(await phone.library.notes["shopping"]?.text == "eggs")
        #expect(await laptop.library.notes["shopping"]?.text == "eggs")
    }

    @Test func `nothing stays of who signs out`() async throws {
        let alice = cloud.account("alice")
        let device = alice.device("phone")
        let phone = try await notes(on: device)
        try await phone.write("milk", to: "shopping")
        try await cloud.settle()

        device.signOut()
        try await cloud.settle()
        #expect(await phone.library.notes.isEmpty)
        device.signIn(cloud.account("bob"))
        try await cloud.settle()
        #expect(await phone.library.notes.isEmpty)
    }
}

/// What the app must not lose, whoever is first.
extension NotesInMemoryTests {
    private static let zoneID = CKRecordZone.ID(zoneName: "Notes")
    private static let shopping = CKRecord.ID(recordName: "shopping", zoneID: zoneID)

    /// Two devices of one user, that have the note "shopping" and sync when told to.
    private func pair(of account: TestAccount) async throws -> (phone: Notes, laptop: Notes) {
        let devices = ["phone", "laptop"].map { account.device($0) }
        var apps: [Notes] = []
        for device in devices {
            let app = try Notes(file: URL(fileURLWithPath: directory.path).appendingPathComponent(device.name))
            await app.start(in: device.container.privateCloudDatabase, automatically: false)
            apps.append(app)
        }
        try await apps[0].write("milk", to: "shopping")
        for app in apps { try await app.sync() }
        #expect(await apps[1].library.notes["shopping"]?.text == "milk")
        return (apps[0], apps[1])
    }

    private func sync(_ apps: Notes...) async throws {
        for app in apps + apps + apps + apps { try await app.sync() }
    }

    private func notes(of apps: Notes...) async -> [[String: String]] {
        var found: [[String: String]] = []
        for app in apps {
            found.append(await app.library.notes.mapValues { ([$0.text] + $0.tags).joined(separator: " ") })
        }
        return found
    }

    @Test func `R-113: tags of both devices are kept, those that one removed are not`() async throws {
        let alice = cloud.account("alice")
        let (phone, laptop) = try await pair(of: alice)
        try await phone.tag("shopping", "food")
        try await sync(phone, laptop)

        try await phone.tag("shopping", "home")
        try await laptop.write("milk, eggs", to: "shopping")
        try await alice.edit(Self.shopping) { $0["tags"] = ["today"] }
        try await sync(phone, laptop)
        #expect(
            await notes(of: phone, laptop) == [
                ["shopping": "milk, eggs today home"], ["shopping": "milk, eggs today home"],
            ])
    }

    @Test(arguments: [false, true])
    func `R-516: what is written while a save is under way stays, and is sent`(conflicts: Bool) async throws {
        let alice = cloud.account("alice")
        let (phone, laptop) = try await pair(of: alice)
        if conflicts { try await alice.edit(Self.shopping) { ($0["text"], $0["tags"]) = ("milk, eggs", ["food"]) } }
        let typing = Typing(phone) {
            try? await $0.write("milk, bread, jam", to: "shopping")
            try? await $0.tag("shopping", "today")
        }
        let tablet = alice.device("tablet").container.privateCloudDatabase
        await phone.start(in: tablet, through: typing, automatically: false)

        try await phone.write("milk, bread", to: "shopping")
        try await phone.tag("shopping", "home")
        do { try await phone.engine?.sendChanges() } catch CKError.partialFailure {}
        #expect(await phone.library.notes["shopping"]?.text == "milk, bread, jam")
        try await sync(phone, laptop)
        let expected = ["shopping": "milk, bread, jam \(conflicts ? "food " : "")home today"]
        #expect(await notes(of: phone, laptop) == [expected, expected])
        withExtendedLifetime(typing) {}
    }

    @Test(arguments: [false, true])
    func `R-094, R-208: an edit that is still to be sent outlives a deletion`(sendsFirst: Bool) async throws {
        let alice = cloud.account("alice")
        let (phone, laptop) = try await pair(of: alice)
        try await phone.write("bread", to: "other")
        try await sync(phone, laptop)

        try await phone.write("milk, bread", to: "shopping")
        for name in ["shopping", "other"] {
            _ = try await alice.database.deleteRecord(withID: CKRecord.ID(recordName: name, zoneID: Self.zoneID))
        }
        if sendsFirst { await #expect(throws: CKError.self) { try await phone.engine?.sendChanges() } }
        try await sync(phone, laptop)
        #expect(await notes(of: phone, laptop) == [["shopping": "milk, bread"], ["shopping": "milk, bread"]])
        #expect(await phone.engine?.state.pendingRecordZoneChanges == [])
    }

    @Test(arguments: [false, true], 0...2)
    func `R-106, R-207: a zone that is deleted takes its notes along, but for an edit that is still to be sent`(
        isPurged: Bool, sendCount: Int
    ) async throws {
        let alice = cloud.account("alice")
        let (phone, laptop) = try await pair(of: alice)
        if isPurged {
            try alice.purge(Self.zoneID)
        } else {
            _ = try await alice.database.deleteRecordZone(withID: Self.zoneID)
        }
        try await phone.write("bread", to: "other")
        // It may have met the missing zone, and made it again, before it hears of the deletion.
        for number in 0..<sendCount {
            do {
                try await phone.engine?.sendChanges()
                #expect(number == 1)
            } catch let error as CKError {
                #expect(number == 0 && error.code == .partialFailure)
            }
        }
        try await phone.engine?.fetchChanges()
        #expect(await notes(of: phone) == [["other": "bread"]])
        try await sync(phone, laptop)
        #expect(await notes(of: phone, laptop) == [["other": "bread"], ["other": "bread"]])
        #expect(await phone.engine?.state.pendingRecordZoneChanges == [])
        try await laptop.write("milk", to: "shopping")
        try await sync(laptop, phone)
        #expect(await notes(of: phone) == [["other": "bread", "shopping": "milk"]])
    }

    @Test(arguments: [false, true])
    func `R-107, R-206: after a reset of the encrypted data every device's notes are there again`(sendsFirst: Bool)
        async throws
    {
        let alice = cloud.account("alice")
        let (phone, laptop) = try await pair(of: alice)
        try alice.resetEncryptedData(in: Self.zoneID)
        try await phone.write("milk, bread", to: "shopping")
        try await laptop.write("bread", to: "other")
        if sendsFirst {
            do {
                try await phone.engine?.sendChanges()
                Issue.record("There is no zone.")
            } catch let error as CKError {
                let reason = error.partialErrorsByItemID?[Self.shopping] as? CKError
                #expect(reason?.code == .zoneNotFound)
                #expect(reason?.userInfo[CKErrorUserDidResetEncryptedDataKey] as? Bool == true)
            }
        }
        try await sync(phone, laptop)
        let expected = ["shopping": "milk, bread", "other": "bread"]
        #expect(await notes(of: phone, laptop) == [expected, expected])
    }
}

/// Between an engine and the app: its user types when a save has ended, before the app hears what became of it.
private actor Typing: CKSyncEngineDelegate {
    private let notes: Notes
    private var type: (@Sendable (Notes) async -> Void)?

    init(_ notes: Notes, _ type: @escaping @Sendable (Notes) async -> Void) {
        (self.notes, self.type) = (notes, type)
    }

    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
        if case .sentRecordZoneChanges = event, let type {
            self.type = nil
            await type(notes)
        }
        await notes.handleEvent(event, syncEngine: syncEngine)
    }

    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? {
        await notes.nextRecordZoneChangeBatch(context, syncEngine: syncEngine)
    }
}
