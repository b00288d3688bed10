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

    func notes(on device: TestDevice) async -> Notes {
        let notes = Notes(file: URL(fileURLWithPath: directory.path).appendingPathComponent("\(device.name).json"))
        await notes.start(in: device.container.privateCloudDatabase)
        return notes
    }

    @Test func `an edit reaches the other device`() async throws {
        let alice = cloud.account("alice")
        let phone = await notes(on: alice.device("phone"))
        let laptop = await notes(on: alice.device("laptop"))

        await phone.write("milk", to: "shopping")
        try await cloud.settle()
        #expect(await laptop.library.notes["shopping"]?.text == "milk")
    }

    @Test func `two edits of one note meet, and both devices end equal`() async throws {
        let alice = cloud.account("alice")
        let plane = alice.device("phone")
        let (phone, laptop) = (await notes(on: plane), await notes(on: alice.device("laptop")))
        await phone.write("milk", to: "shopping")
        try await cloud.settle()

        plane.goOffline()
        await phone.write("milk, bread", to: "shopping")
        await laptop.write("milk, eggs", to: "shopping")
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
        let (phone, laptop) = (await notes(on: device), await notes(on: alice.device("laptop")))
        try await cloud.settle()

        device.throttle(for: .seconds(30))
        await phone.write("milk", to: "shopping")
        try await cloud.clock.advance(by: .seconds(29))
        #expect(await laptop.library.notes["shopping"] == nil)
        try await cloud.clock.advance(by: .seconds(5))
        #expect(await laptop.library.notes["shopping"]?.text == "milk")
    }

    @Test func `what goes wrong leaves both devices equal`() async throws {
        let alice = cloud.account("alice")
        let device = alice.device("phone")
        let (phone, laptop) = (await notes(on: device), await notes(on: alice.device("laptop")))
        await phone.write("milk", to: "shopping")
        try await cloud.settle()

        device.loseNextAnswer()
        await phone.write("bread", to: "shopping")
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
        let phone = await notes(on: device)
        await phone.write("milk", to: "shopping")
        try await cloud.settle()

        device.signOut()
        try await cloud.settle()
        #expect(await phone.library.notes.isEmpty)
        device.signIn(cloud.account("bob"))
        try await cloud.settle()
        #expect(await phone.library.notes.isEmpty)
    }
}
