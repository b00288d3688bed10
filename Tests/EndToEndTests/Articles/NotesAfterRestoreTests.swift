// SPDX-License-Identifier: Apache-2.0

import CloudKit
import Testing
import TidemarkTestKit

@Suite struct NotesAfterRestoreTests {
    let cloud = TestCloud()

    private func pair() async throws -> (phone: CarefulNotes, laptop: CarefulNotes, away: TestDevice) {
        let alice = cloud.account("alice")
        let (phone, laptop) = (CarefulNotes(), CarefulNotes())
        let away = alice.device("laptop")
        try await phone.start(in: alice.device("phone").container.privateCloudDatabase)
        try await laptop.start(in: away.container.privateCloudDatabase)
        return (phone, laptop, away)
    }

    @Test func `R-228, R-552: a restored server undoes no edit, and what it lacks is saved again`() async throws {
        let (phone, laptop, away) = try await pair()
        for name in ["edited", "new edit", "kept"] { await phone.write("of the backup", to: name) }
        try await cloud.settle()
        let backup = cloud.backUp()
        await phone.write("since", to: "edited")
        await laptop.write("since", to: "made since")
        try await cloud.settle()
        away.goOffline()
        await laptop.write("offline", to: "unsent")
        cloud.restore(backup)
        try await cloud.settle()
        await phone.write("after", to: "new edit")
        try await cloud.settle()
        away.goOnline()
        try await cloud.settle()
        let expected = [
            "edited": "since", "made since": "since", "new edit": "after", "kept": "of the backup", "unsent": "offline",
        ]
        #expect(await phone.texts == expected)
        #expect(await laptop.texts == expected)
        let zone = CarefulNotes.zone.zoneID
        let told = [
            "DidFetchZonesFromNothing(anotherLife, absent: [])",
            "\(TidemarkStoreEvent.willFetchFromNothing(zoneID: zone, reason: .anotherLife))",
        ]
        for app in [phone, laptop] {
            #expect(await app.heard.prefix(2) == told[...])
            #expect(await app.heard.dropFirst(2) == ["DidFetchFromNothing(Notes, anotherLife)"])
        }
    }

    @Test func `R-518: an edit whose save failed for a while, or that was made meanwhile, is no conflict`() async throws
    {
        let (device, phone) = (cloud.account("alice").device("phone"), CarefulNotes())
        try await phone.start(in: device.container.privateCloudDatabase)
        await phone.write("one", to: "note")
        try await cloud.settle()
        device.throttle(for: .seconds(10))
        await phone.write("two", to: "note")
        try await cloud.settle()
        await phone.write("three", to: "note")
        try await cloud.clock.advance(by: .seconds(60))
        try await cloud.settle()
        #expect(await phone.texts == ["note": "three"])
    }

    @Test func `R-552: a zone that the backup does not have is told of, and made again`() async throws {
        // The user is in the backup.
        try await cloud.account("alice").database.save(CKRecordZone(zoneName: "Other"))
        try await cloud.settle()
        let backup = cloud.backUp()
        let (phone, laptop, _) = try await pair()
        await phone.write("milk", to: "shopping")
        await laptop.write("tea", to: "kitchen")
        try await cloud.settle()
        cloud.restore(backup)
        try await cloud.settle()
        for app in [phone, laptop] { #expect(await app.texts == ["shopping": "milk", "kitchen": "tea"]) }
        #expect(await phone.heard.contains("DidFetchZonesFromNothing(anotherLife, absent: [Notes])"))
        let names = try await cloud.account("alice").database.allRecordZones().map(\.zoneID.zoneName)
        #expect(names.contains("Notes"))
    }

    @Test func `R-552: what was deleted and forgotten while a device was away is deleted there`() async throws {
        let (phone, laptop, away) = try await pair()
        for name in ["deleted", "edited", "kept"] { await phone.write("first", to: name) }
        try await cloud.settle()
        away.goOffline()
        await laptop.write("second", to: "edited")
        await laptop.write("second", to: "unsent")
        for name in ["deleted", "edited"] { await phone.delete(name) }
        try await cloud.settle()
        cloud.forgetDeletions()
        away.goOnline()
        try await cloud.settle()
        let expected = ["edited": "second", "kept": "first", "unsent": "second"]
        #expect(await phone.texts == expected)
        #expect(await laptop.texts == expected)
        #expect(await laptop.heard.last == "DidFetchFromNothing(Notes, deletionsForgotten)")
    }
}
