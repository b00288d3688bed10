// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkTestSupport

/// A contacts list as CloudKit's samples are written: whole records, the last writer wins.
@Suite(.timeLimit(.minutes(10))) struct ContactsTests {
    @Test(arguments: ClientFleet.allSizes)
    func `R-049, R-560, R-586: contacts: all devices edit without a network and end equal`(_ count: Int) async throws {
        try await ClientFleet.with(count, .contacts) { fleet in
            try fleet.start()
            for id in ["edited", "contested", "deleted", "gone"] { try await fleet[0].type("save", id, "Ann", "1") }
            #expect(try await fleet.settle().count == 4)

            for (index, device) in fleet.devices.enumerated() {
                try await device.type("save", "own-\(index)", "Owner \(index)", "\(index)")
                try await device.type("save", "contested", "by \(index)", "\(index)")
                if index > 0 { try await device.type("save", "deleted", "still by \(index)", "2") }
            }
            try await fleet[0].type("save", "edited", "Anna", "3")
            try await fleet[0].type("delete", "deleted")
            try await fleet[1].type("delete", "gone")
            let items = try await fleet.settle()
            #expect(items["edited"] == ["name": "Anna", "phone": "3"])
            #expect(items["contested"] == ["name": "by \(count - 1)", "phone": "\(count - 1)"], "the newest edit")
            #expect(items["gone"] == nil)
            for index in 0..<count {
                #expect(items["own-\(index)"] == ["name": "Owner \(index)", "phone": "\(index)"])
            }
            try await fleet.all { try await $0.quit() }
        }
    }

    @Test(arguments: ClientFleet.sizes)
    func `R-130, R-208: contacts: a deletion that is met before the edit is sent wins, whoever is first`(_ count: Int)
        async throws
    {
        try await ClientFleet.with(count, .contacts) { fleet in
            try fleet.start()
            for id in ["a", "b"] { try await fleet[0].type("save", id, "Ann", "1") }
            _ = try await fleet.settle()
            try await fleet[0].type("delete", "a")
            try await fleet[0].type("save", "b", "Bo", "2")
            for device in fleet.devices.dropFirst() {
                try await device.type("save", "a", "Anna", "2")
                try await device.type("delete", "b")
            }
            try await fleet[0].sync()
            #expect(fleet[0].items == ["b": ["name": "Bo", "phone": "2"]])
            try await fleet[1].sync()
            #expect(try await fleet.settle() == [:])
        }
    }

    @Test(arguments: ClientFleet.sizes)
    func `R-028, R-207: contacts: the zone is deleted while others edit, and comes back`(_ count: Int) async throws {
        try await ClientFleet.with(count, .contacts) { fleet in
            try fleet.start()
            for index in 0..<count { try await fleet[0].type("save", "\(index)", "Ann", "1") }
            _ = try await fleet.settle()

            // Whoever hears of it before they have sent drops their edits with the zone.
            for (index, device) in fleet.devices.enumerated() {
                try await device.type("save", "\(index)", "Edited", "2")
            }
            try await fleet[0].type("erase")
            try await fleet[0].sync()
            #expect(try await fleet.settle() == [:])

            // There is no zone to save into, and nobody told the last device.
            try await fleet[count - 1].type("save", "new", "Bo", "3")
            try await fleet[count - 1].sync()
            #expect(try await fleet.settle() == ["new": ["name": "Bo", "phone": "3"]])

            // Both at once: whatever comes of it, it is the same everywhere.
            for (index, device) in fleet.devices.enumerated() {
                try await device.type("save", "\(index)", "Again", "4")
            }
            try await fleet[0].type("erase")
            _ = try await fleet.settle()
        }
    }

    @Test(arguments: ClientFleet.sizes)
    func `R-561, R-563: contacts: a device that changes hands keeps nothing, and finds all again`(_ count: Int)
        async throws
    {
        try await ClientFleet.with(count, .contacts) { fleet in
            try fleet.start()
            for (index, device) in fleet.devices.enumerated() {
                try await device.type("save", "\(index)", "of alice", "\(index)")
            }
            let ofAlice = try await fleet.settle()
            #expect(ofAlice.count == count)

            let device = fleet[count - 1]
            try await device.quit()
            // Never sent: it is alice's, and neither bob nor the next alice gets it.
            try device.start(isOnline: false)
            try await device.type("save", "0", "unsent", "9")
            try await device.type("save", "unsent", "unsent", "9")
            try await device.shows("what it has stored") { $1 == 2 }
            try await device.quit()
            try device.start(account: "bob")
            try await device.sync()
            #expect(device.items == [:])
            try await device.type("save", "0", "of bob", "5")
            try await device.sync()
            try await device.quit()
            #expect(try await fleet.newDevice(account: "bob").items == ["0": ["name": "of bob", "phone": "5"]])

            try await fleet[0].type("save", "later", "of alice", "6")
            try await fleet[0].sync()
            try device.start(account: "alice")
            try await device.sync()
            #expect(device.items["later"] != nil)
            #expect(try await fleet.settle().filter { $0.key != "later" } == ofAlice)
        }
    }

    @Test(arguments: ClientFleet.sizes)
    func `R-517, R-603: contacts: what was edited without a server is sent after a new start`(_ count: Int) async throws
    {
        try await ClientFleet.with(count, .contacts) { fleet in
            try fleet.start()
            for id in ["contested", "deleted"] { try await fleet[0].type("save", id, "Ann", "1") }
            _ = try await fleet.settle()
            try await fleet.all { try await $0.quit() }

            try fleet.start(isOnline: false)
            for (index, device) in fleet.devices.enumerated() {
                if index == 0 { try await device.type("delete", "deleted") }
                try await device.type("save", "contested", "by \(index)", "\(index)")
                // It shows what is pending again when it has stored the engine's state, which comes a moment later.
                try await device.shows("what it has stored") { $1 == (index == 0 ? 2 : 1) }
            }
            try await fleet.all { try await $0.quit() }

            try fleet.start()
            let last = "\(count - 1)"
            #expect(try await fleet.settle() == ["contested": ["name": "by \(last)", "phone": last]])
        }
    }

    @Test(arguments: ClientFleet.sizes)
    func `R-508: contacts: what is saved on one device comes to all by push`(_ count: Int) async throws {
        try await ClientFleet.with(count, .contacts) { fleet in
            try fleet.start(automatically: true)
            for (index, device) in fleet.devices.enumerated() {
                try await device.type("save", "\(index)", "of \(index)", "1")
            }
            try await fleet.all { device in
                try await device.shows("all contacts") { items, pendingCount in
                    items.count == count && pendingCount == 0
                }
            }
            try await fleet[1].type("delete", "0")
            try await fleet[0].type("save", "1", "edited", "2")
            try await fleet.all { device in
                try await device.shows("the edit and the deletion") { items, _ in
                    items["0"] == nil && items["1"] == ["name": "edited", "phone": "2"] && items.count == count - 1
                }
            }
        }
    }
}
