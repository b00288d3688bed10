// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkKit
import TidemarkTestSupport

@testable import sharedlists

/// Two people with five devices, lists that they share, and members who come and go: the program itself, and a real server.
@Suite(.timeLimit(.minutes(10))) struct SharedListsProgramTests {
    private static let (shopping, milk) = ("alice: Shopping", "alice: Shopping: [ ] milk")
    private static let own = ["alice: Private", "alice: Private: [ ] secret"]

    /// alice has a list that she shares with everybody who has the link, and one that she does not.
    private func begin(_ house: ListsHousehold, _ permission: String = "write") async throws -> String {
        for (list, item) in [("Shopping", "milk"), ("Private", "secret")] {
            try await house[0].type("new", list)
            try await house[0].type("add", list, item)
        }
        return try await house[0].ask(["share", "Shopping", permission])
    }

    @Test func `R-301, R-302, R-320: a list is shared with what is in it, and edits of all devices meet`() async throws
    {
        try await ListsHousehold.with { house in
            let link = try await begin(house)
            #expect(link.hasPrefix("https://"))
            try await house[3].type("join", link)
            try await house.settle()
            try await house.expect(
                ["alice": (Self.own + [Self.shopping, Self.milk]).sorted(), "bob": [Self.shopping, Self.milk]], "joined"
            )

            // Without a sync in between: on all five at once.
            try await house[0].type("edit", "milk", "oat milk")
            try await house[1].type("add", "Shopping", "bread")
            try await house[2].type("edit", "Shopping", "Food")
            try await house[3].type("done", "milk")
            try await house[4].type("add", "Shopping", "beer")
            try await house.settle()
            let food = ["alice: Food"] + ["[ ] beer", "[ ] bread", "[x] oat milk"].map { "alice: Food: \($0)" }
            try await house.expect(["alice": (Self.own + food).sorted(), "bob": food], "edited")

            // What is moved out is gone for bob, and what is moved in is there.
            try await house[1].type("move", "oat milk", "Private")
            try await house[2].type("move", "secret", "Food")
            try await house.settle()
            let moved = ["alice: Food"] + ["[ ] beer", "[ ] bread", "[ ] secret"].map { "alice: Food: \($0)" }
            let hidden = ["alice: Private", "alice: Private: [x] oat milk"]
            try await house.expect(["alice": (hidden + moved).sorted(), "bob": moved], "moved")
        }
    }

    @Test func `R-306, R-326, R-330: members leave and join, and a list is shared anew by the same link`() async throws
    {
        try await ListsHousehold.with { house in
            let link = try await begin(house)
            let alices = (Self.own + [Self.shopping, Self.milk]).sorted()
            let bobs = [Self.shopping, Self.milk]
            try await house[3].type("join", link)
            try await house.settle()
            #expect(house[0].items.values.first { $0["text"] == "Shopping" }?["joined"] == "1")
            // It goes on a device that was not asked.
            try await house[4].type("leave", "Shopping")
            try await house.settle()
            try await house.expect(["alice": alices, "bob": []], "left")
            try await house[4].type("join", link)
            try await house.settle()
            try await house.expect(["alice": alices, "bob": bobs], "joined again")

            try await house[3].type("add", "Shopping", "beer")
            try await house[1].type("sync")
            try await house[1].type("stop", "Shopping")
            try await house.settle()
            try await house.expect(["alice": alices, "bob": []], "not shared any more")
            // What bob could not send is told.
            #expect(house[3].problems.contains { $0.contains("beer") }, "\(house[3].problems)")
            await #expect(throws: NeverHappened.self) { try await house[3].type("join", link) }

            try await house[2].type("sync")
            #expect(try await house[2].ask(["share", "Shopping", "write"]) == link)
            try await house[3].type("join", link)
            try await house.settle()
            try await house.expect(["alice": alices, "bob": bobs], "shared again")
        }
    }

    @Test func `R-321, R-979: one of several lists of a person comes and goes, and the others stay with their edits`()
        async throws
    {
        try await ListsHousehold.with { house in
            let bob = house.userNames["bob"] ?? ""
            var links: [String: String] = [:]
            for list in ["One", "Two"] {
                try await house[0].type("new", list)
                try await house[0].type("add", list, "of \(list)")
                links[list] = try await house[0].ask(["invite", list, bob])
            }
            for link in links.values.sorted() { try await house[3].type("join", link) }
            try await house.settle()
            let both = ["One", "Two"].flatMap { ["alice: \($0)", "alice: \($0): [ ] of \($0)"] }
            try await house.expect(["alice": both, "bob": both], "both")

            // bob has edited both when one of them ends for him.
            for list in ["One", "Two"] { try await house[4].type("edit", "of \(list)", "\(list), edited") }
            try await house[1].type("sync")
            try await house[1].type("remove", "Two", bob)
            try await house.settle()
            let one = ["alice: One", "alice: One: [ ] One, edited"]
            let two = ["alice: Two", "alice: Two: [ ] of Two"]
            try await house.expect(["alice": one + two, "bob": one], "one")
            #expect(house[4].problems.contains { $0.contains("Two, edited") }, "\(house[4].problems)")

            #expect(try await house[2].ask(["invite", "Two", bob]) == links["Two"])
            try await house[4].type("join", links["Two"] ?? "")
            try await house.settle()
            try await house.expect(["alice": one + two, "bob": one + two], "both again")
        }
    }

    @Test func `R-307, R-329: who may only read is told so, and has the list as it is`() async throws {
        try await ListsHousehold.with { house in
            let link = try await begin(house)
            try await house[3].type("join", link)
            try await house.settle()
            // It was allowed when it was typed.
            try await house[3].type("edit", "milk", "no milk")
            try await house[3].type("add", "Shopping", "beer")
            try await house[4].type("delete", "milk")
            #expect(try await house[0].ask(["share", "Shopping", "read"]) == link)
            try await house.settle()
            try await house.expect(
                ["alice": (Self.own + [Self.shopping, Self.milk]).sorted(), "bob": [Self.shopping, Self.milk]], "read")
            for text in ["no milk", "beer"] {
                #expect(house[3].problems.contains { $0.contains(text) }, "\(house[3].problems)")
            }
            #expect(house[4].problems.contains { $0.contains("milk was not deleted") }, "\(house[4].problems)")
            await #expect(throws: NeverHappened.self) { try await house[3].type("add", "Shopping", "wine") }
            // The owner's list is no guest's to end.
            await #expect(throws: NeverHappened.self) { try await house[3].type("delete", "Shopping") }
            await #expect(throws: NeverHappened.self) { try await house[3].type("stop", "Shopping") }
        }
    }

    @Test
    func `R-136, R-325: a list that its owner deletes goes with all, but not with what was put into it meanwhile`()
        async throws
    {
        try await ListsHousehold.with { house in
            let link = try await begin(house)
            try await house[3].type("join", link)
            try await house.settle()
            try await house[4].type("add", "Shopping", "beer")
            try await house[4].type("sync")
            try await house[1].type("delete", "Shopping")
            try await house.settle()
            let left = [Self.shopping, "alice: Shopping: [ ] beer"]
            try await house.expect(["alice": (Self.own + left).sorted(), "bob": left], "it stays")
            try await house[2].type("delete", "Shopping")
            try await house[2].type("sync")
            // alice's own edit outlives the deletion, and the list comes back for her alone.
            try await house[0].type("edit", "beer", "ale")
            try await house.settle()
            let again = [Self.shopping, "alice: Shopping: [ ] ale"]
            try await house.expect(["alice": (Self.own + again).sorted(), "bob": []], "it comes back")
        }
    }

    @Test func `R-517, R-603: what was typed without a server is sent after a new start`() async throws {
        try await ListsHousehold.with { house in
            let link = try await begin(house)
            try await house[3].type("join", link)
            try await house.settle()
            for device in house.devices { try await device.quit() }
            for (index, device) in house.devices.enumerated() {
                try house.start(index, isOnline: false)
                try await device.type("add", "Shopping", "of \(index)")
                try await device.type("show")
                #expect(device.pendingCount == 1)
                try await device.quit()
                try house.start(index)
            }
            try await house.settle()
            let items = (0..<5).map { "alice: Shopping: [ ] of \($0)" }
            let all = [Self.shopping, Self.milk] + items
            try await house.expect(["alice": (Self.own + all).sorted(), "bob": all.sorted()], "sent")
        }
    }

    @Test func `R-508, R-980: what is typed on one device comes to all who may see it by push`() async throws {
        try await ListsHousehold.with(automatically: true) { house in
            let link = try await begin(house)
            try await house[4].type("join", link)
            for device in house.devices {
                try await device.shows("the list") { items, _ in items.values.contains { $0["text"] == "milk" } }
            }
            for (index, device) in house.devices.enumerated() {
                try await device.type("add", "Shopping", "of \(index)")
            }
            for device in house.devices {
                try await device.shows("what the others have typed") { items, pendingCount in
                    pendingCount == 0 && items.values.count { $0["list"] == "Shopping" } == 6
                }
            }
            try await house[1].type("stop", "Shopping")
            for index in [3, 4] { try await house[index].shows("nothing") { items, _ in items.isEmpty } }
        }
    }

    @Test func `a command carries out one thing, and show is for people`() async throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let site = try await DevServer.shared()
        func run(_ account: String, _ words: String...) async throws -> (status: Int32, output: String) {
            try await Program.run(
                "sharedlists", ["\(directory.path)/\(account)"] + words, environment: site.environment(account),
                directory: directory.path)
        }
        #expect(try await run("alice", "new", "Weekend").status == 0)
        #expect(try await run("alice", "add", "Weekend", "a tent").status == 0)
        let shared = try await run("alice", "share", "Weekend", "write")
        #expect(shared.status == 0 && shared.output.hasPrefix("https://"), "\(shared.output)")
        let link = shared.output.trimmingCharacters(in: .whitespacesAndNewlines)
        #expect(try await run("bob", "join", link).status == 0)
        #expect(try await run("bob", "done", "a tent").status == 0)
        let shown = try await run("alice", "show")
        #expect(shown.output.contains("Weekend") && shown.output.contains("[x] a tent"), "\(shown.output)")
        #expect(shown.output.contains("(you): owner") && shown.output.contains("may write"), "\(shown.output)")
        let wrong = try await run("alice", "dance")
        #expect(wrong.status != 0 && wrong.output.contains("dance is no command"), "\(wrong.output)")
        #expect(try await run("alice", "join", link).output.contains("your own list"))
    }

    @Test func `a line is split at spaces, or at tabs if it has any`() throws {
        #expect(ListCommand.words(of: " add  Shopping milk ") == ["add", "Shopping", "milk"])
        #expect(ListCommand.words(of: "add\tThe list\toat milk") == ["add", "The list", "oat milk"])
        #expect(ListCommand.words(of: "edit\tmilk\t") == ["edit", "milk", ""])
        #expect(try ListCommand(["move", "a", "b"]) == .move("a", list: "b"))
        #expect(try ListCommand(["share", "a", "read"]) == .share("a", .readOnly))
        for words in [[], ["move"], ["share", "a", "all"], ["show", "a"], ["me", "too"]] {
            #expect(throws: ListsError.self) { try ListCommand(words) }
        }
    }
}
