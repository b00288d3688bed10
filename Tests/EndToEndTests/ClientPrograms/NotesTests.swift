// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkTestSupport

/// A store of notes that merges field by field, in SQLite.
@Suite(.timeLimit(.minutes(10))) struct NotesTests {
    @Test(arguments: ClientFleet.allSizes)
    func `R-111, R-586: notes: all devices edit one note without a network, and no edit is lost`(_ count: Int)
        async throws
    {
        try await ClientFleet.with(count, .notes) { fleet in
            try fleet.start()
            try await fleet[0].type("title", "plan", "Plan")
            try await fleet[0].type("body", "plan", "Begin")
            try await fleet[0].type("tag", "plan", "draft")
            try await fleet[0].type("title", "gone", "Gone")
            _ = try await fleet.settle()

            for (index, device) in fleet.devices.enumerated() {
                try await device.type("title", "own-\(index)", "Note of \(index)")
                try await device.type("tag", "plan", "t\(index + 10)")
            }
            try await fleet[0].type("title", "plan", "The plan")
            try await fleet[0].type("untag", "plan", "draft")
            try await fleet[1].type("body", "plan", "Go on")
            try await fleet[1].type("delete", "gone")
            let items = try await fleet.settle()
            let tags = (0..<count).map { "t\($0 + 10)" }.joined(separator: ",")
            #expect(items["plan"] == ["title": "The plan", "body": "Go on", "tags": tags])
            #expect(items["gone"] == nil)
            for index in 0..<count { #expect(items["own-\(index)"]?["title"] == "Note of \(index)") }
            #expect(items.count == count + 1)
            try await fleet.all { try await $0.quit() }
        }
    }

    @Test(arguments: ClientFleet.sizes)
    func `R-130, R-208: notes: an edit outlives a deletion, whoever is first`(_ count: Int) async throws {
        try await ClientFleet.with(count, .notes) { fleet in
            try fleet.start()
            for id in ["a", "b"] { try await fleet[0].type("title", id, "Start") }
            _ = try await fleet.settle()
            try await fleet[0].type("delete", "a")
            try await fleet[0].type("title", "b", "Edited")
            for (index, device) in fleet.devices.enumerated().dropFirst() {
                try await device.type("title", "a", "Edited")
                try await device.type("tag", "a", "t\(index + 10)")
                try await device.type("delete", "b")
            }
            try await fleet[0].sync()
            #expect(fleet[0].items.keys.sorted() == ["b"])
            try await fleet[1].sync()
            let items = try await fleet.settle()
            #expect(items.mapValues { $0["title"] } == ["a": "Edited", "b": "Edited"])
            #expect(items["a"]?["tags"] == (1..<count).map { "t\($0 + 10)" }.joined(separator: ","))
        }
    }

    @Test(arguments: ClientFleet.sizes)
    func `R-028, R-207: notes: the zone is deleted while others edit, and comes back`(_ count: Int) async throws {
        try await ClientFleet.with(count, .notes) { fleet in
            try fleet.start()
            for index in 0..<count { try await fleet[0].type("title", "\(index)", "Start") }
            _ = try await fleet.settle()
            for (index, device) in fleet.devices.enumerated() { try await device.type("body", "\(index)", "Edited") }
            try await fleet[0].type("erase")
            try await fleet[0].sync()
            #expect(try await fleet.settle() == [:])

            try await fleet[count - 1].type("title", "new", "New")
            try await fleet[count - 1].sync()
            #expect(try await fleet.settle().keys.sorted() == ["new"])

            for (index, device) in fleet.devices.enumerated() { try await device.type("body", "\(index)", "Again") }
            try await fleet[0].type("erase")
            _ = try await fleet.settle()
        }
    }

    @Test(arguments: ClientFleet.sizes)
    func `R-561, R-563: notes: a device that changes hands keeps nothing, and finds all again`(_ count: Int)
        async throws
    {
        try await ClientFleet.with(count, .notes) { fleet in
            try fleet.start()
            for (index, device) in fleet.devices.enumerated() {
                try await device.type("title", "\(index)", "of alice")
            }
            let ofAlice = try await fleet.settle()
            #expect(ofAlice.count == count)
            let device = fleet[count - 1]
            try await device.quit()
            // Never sent: it is alice's, and neither bob nor the next alice gets it.
            try device.start(isOnline: false)
            try await device.type("title", "0", "unsent")
            try await device.type("title", "unsent", "unsent")
            #expect(device.pendingCount == 2)
            try await device.quit()
            try device.start(account: "bob")
            try await device.sync()
            #expect(device.items == [:])
            try await device.type("title", "0", "of bob")
            try await device.sync()
            try await device.quit()
            #expect(try await fleet.newDevice(account: "bob").items.mapValues { $0["title"] } == ["0": "of bob"])
            try device.start(account: "alice")
            #expect(try await fleet.settle() == ofAlice)
        }
    }

    @Test(arguments: ClientFleet.sizes)
    func `R-517, R-603: notes: what was edited without a server is sent after a new start`(_ count: Int) async throws {
        try await ClientFleet.with(count, .notes) { fleet in
            try fleet.start()
            try await fleet[0].type("title", "plan", "Plan")
            try await fleet[0].type("title", "deleted", "Plan")
            _ = try await fleet.settle()
            try await fleet.all { try await $0.quit() }

            try fleet.start(isOnline: false)
            for (index, device) in fleet.devices.enumerated() {
                try await device.type("tag", "plan", "t\(index + 10)")
                #expect(device.pendingCount == 1)
            }
            try await fleet[0].type("delete", "deleted")
            try await fleet[1].type("title", "plan", "The plan")
            try await fleet.all { try await $0.quit() }

            try fleet.start()
            let tags = (0..<count).map { "t\($0 + 10)" }.joined(separator: ",")
            #expect(try await fleet.settle() == ["plan": ["title": "The plan", "body": "", "tags": tags]])
        }
    }

    @Test(arguments: ClientFleet.sizes)
    func `R-508, R-603: notes: what was written without a server is sent after a new start, and comes to all by push`(
        _ count: Int
    ) async throws {
        try await ClientFleet.with(count, .notes) { fleet in
            try fleet.start(automatically: true, isOnline: false)
            for (index, device) in fleet.devices.enumerated() {
                try await device.type("title", "own-\(index)", "Note of \(index)")
                try await device.type("tag", "shared", "t\(index + 10)")
                #expect(device.pendingCount == 2)
            }
            try await fleet.all { try await $0.quit() }
            try fleet.start(automatically: true)
            let tags = (0..<count).map { "t\($0 + 10)" }.joined(separator: ",")
            try await fleet.all { device in
                try await device.shows("all notes") { items, pendingCount in
                    items.count == count + 1 && items["shared"]?["tags"] == tags && pendingCount == 0
                }
            }
        }
    }
}
