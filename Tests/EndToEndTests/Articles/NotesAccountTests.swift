// SPDX-License-Identifier: Apache-2.0

import CloudKit
import Testing
import TidemarkTestKit
import TidemarkTestSupport

/// Somebody signs out, goes on writing, and signs in again: what was written is not lost.
@Suite struct NotesAccountTests {
    private let cloud = TestCloud()

    private static let moments: [(isAutomatic: Bool, hearsFirst: Bool, name: String)] = [
        (false, false, "shopping"), (false, false, "other"), (false, true, "shopping"), (false, true, "other"),
        (true, false, "shopping"), (true, false, "other"), (true, true, "shopping"), (true, true, "other"),
    ]

    /// - Parameters:
    ///   - hearsFirst: whether the app has heard of the signing out when it writes.
    ///   - name: of the note that is written while nobody is signed in.
    @Test(arguments: moments)
    func `R-563: what is written around a sign-out is there after the next sign-in`(
        isAutomatic: Bool, hearsFirst: Bool, name: String
    ) async throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let alice = cloud.account("alice")
        let (phone, laptop) = (alice.device("phone"), alice.device("laptop"))
        var apps: [Notes] = []
        for device in [phone, laptop] {
            let app = try Notes(file: URL(fileURLWithPath: directory.path).appendingPathComponent(device.name))
            await app.start(in: device.container.privateCloudDatabase, automatically: isAutomatic)
            apps.append(app)
        }
        func sync() async throws {
            try await cloud.settle()
            guard !isAutomatic else { return }
            for app in apps + apps { try? await app.sync() }
        }

        try await apps[0].write("milk", to: "shopping")
        try await sync()
        phone.signOut()
        if hearsFirst { try await sync() }
        try await apps[0].write("milk, bread", to: name)
        try await sync()
        phone.signIn(alice)
        try await sync()
        try await apps[1].write("eggs", to: "third")
        try await sync()

        var expected = ["shopping": "milk", "third": "eggs"]
        expected[name] = "milk, bread"
        for app in apps { #expect(await app.library.notes.mapValues(\.text) == expected) }
        for app in apps { #expect(await app.engine?.state.pendingRecordZoneChanges == []) }
        try await apps[1].write("milk, bread, jam", to: "shopping")
        try await sync()
        #expect(await apps[0].library.notes["shopping"]?.text == "milk, bread, jam")
    }

    enum ZoneEnd: CaseIterable {
        case deleted, purged, encryptedDataReset
    }

    /// What was sent is the server's to keep, and gone with the zone: the device has it no more. What was not is its user's.
    @Test(arguments: ZoneEnd.allCases)
    func `R-643, R-644: of a zone that ends while nobody is signed in what was unsent is there again, and nothing else`(
        end: ZoneEnd
    ) async throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let alice = cloud.account("alice")
        let phone = alice.device("phone")
        let app = try Notes(file: URL(fileURLWithPath: directory.path).appendingPathComponent("phone"))
        await app.start(in: phone.container.privateCloudDatabase)
        for name in ["shopping", "trip"] { try await app.tag(name, "sent") }
        try await cloud.settle()
        phone.goOffline()
        try await app.tag("shopping", "unsent")
        phone.signOut()
        try await cloud.settle()
        #expect(await app.library.notes.isEmpty)
        let zoneID = CKRecordZone.ID(zoneName: "Notes")
        switch end {
        case .deleted: try await alice.database.deleteRecordZone(withID: zoneID)
        case .purged: try alice.purge(zoneID)
        case .encryptedDataReset: try alice.resetEncryptedData(in: zoneID)
        }
        phone.goOnline()
        phone.signIn(alice)
        try await cloud.settle()
        #expect(await app.library.notes.mapValues(\.tags) == ["shopping": ["sent", "unsent"]])
        #expect(await app.library.replica.unsentIDs == [])
        let note = try await alice.database.record(for: CKRecord.ID(recordName: "shopping", zoneID: zoneID))
        #expect(note["tags"] == ["sent", "unsent"])
    }
}
