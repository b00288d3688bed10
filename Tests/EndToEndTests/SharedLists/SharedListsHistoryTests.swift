// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkTestSupport

/// Three people with six devices do anything, in any order, and programs are killed. After each sync the device's file is what
/// ``ListsModel`` says.
@Suite(.timeLimit(.minutes(60))) struct SharedListsHistoryTests {
    /// `make client-programs` takes many.
    private static let stepCount =
        ProcessInfo.processInfo.environment["TIDEMARK_CLIENT_PROGRAMS"] == nil ? 120 : 500

    /// `TIDEMARK_SEED=4711` takes the same history again.
    @Test func `R-980, R-330, R-517: each file has what its user may see, and no edit is lost, in random histories`()
        async throws
    {
        var random = SeededRandom()
        print("shared lists: TIDEMARK_SEED=\(random.seed)")
        try await ListsHousehold.with(ListsHousehold.three) { house in
            var history = ListsHistory(house, seed: random.seed)
            for _ in 0..<Self.stepCount {
                guard history.isRight else { break }
                try await history.step(&random)
            }
            try await history.end()
            #expect(history.shareCount > 0, "seed \(random.seed): nothing was shared")
            #expect(history.killCount > 0, "seed \(random.seed): nothing was killed")
        }
    }
}

/// One history, on the devices and in the model.
private struct ListsHistory {
    private let house: ListsHousehold
    private let seed: UInt64
    private var model: ListsModel
    private var textCount = 0
    private var said: [String] = []
    private(set) var shareCount = 0
    private(set) var killCount = 0
    /// False once a file was not what the model says.
    private(set) var isRight = true

    init(_ house: ListsHousehold, seed: UInt64) {
        self.house = house
        self.seed = seed
        model = ListsModel(accounts: house.accounts)
    }

    private var accounts: [String] { house.accounts }

    /// One of the devices of somebody.
    private func device(of account: String, _ random: inout SeededRandom) -> Int? {
        accounts.indices.filter { accounts[$0] == account }.randomElement(using: &random)
    }

    mutating func step(_ random: inout SeededRandom) async throws {
        let device = accounts.indices.randomElement(using: &random) ?? 0
        switch Int.random(in: 0..<20, using: &random) {
        case 0, 1: try await makeList(on: device)
        case 2, 3, 4, 5: try await add(on: device, &random)
        case 6, 7, 8: try await edit(on: device, &random)
        case 9: try await finish(on: device, &random)
        case 10, 11: try await move(on: device, &random)
        case 12: try await delete(on: device, &random)
        case 13, 14: try await invite(by: device, &random)
        case 15: try await part(device, &random)
        case 16: try await kill(device, &random)
        default: try await sync(device)
        }
    }

    mutating func end() async throws {
        for _ in 1...2 {
            for device in accounts.indices { try await sync(device) }
        }
        for account in Set(accounts) {
            let served = try await house.served(account)
            expect(served == ListsModel.lines(model.visible(to: account)), "the server shows \(account) \(served)")
        }
    }

    private mutating func expect(_ condition: Bool, _ what: String) {
        guard !condition, isRight else { return }
        isRight = false
        Issue.record("seed \(seed): \(what)\n\(said.joined(separator: "\n"))")
    }

    private mutating func type(_ words: String..., on device: Int) async throws {
        said.append("\(device) \(words.joined(separator: " "))")
        try await house[device].ask(words)
    }

    private mutating func sync(_ device: Int) async throws {
        try await type("sync", on: device)
        model.sync(device)
        let file = try house.file(device)
        let expected = ListsModel.lines(model.copies[device].local)
        expect(file.lines == expected, "device \(device) has \(file.lines), and should have \(expected)")
        expect(file.isSettled, "device \(device) has something to send")
    }

    /// A program is killed with SIGKILL, while it waits for its user or syncs, and starts again. All that was typed is there. A
    /// sync that was cut is carried on: for everybody else the two are one.
    private mutating func kill(_ device: Int, _ random: inout SeededRandom) async throws {
        killCount += 1
        let isSyncing = Bool.random(using: &random)
        let lineCount = Int.random(in: 0..<10, using: &random)
        said.append("\(device) is killed\(isSyncing ? " in a sync, after \(lineCount) lines" : "")")
        try await house[device].crash(during: isSyncing ? ["sync"] : [], afterLines: isSyncing ? lineCount : 0)
        try house.start(device)
        if isSyncing { return try await sync(device) }
        let (file, expected) = (try house.file(device).lines, ListsModel.lines(model.copies[device].local))
        expect(file == expected, "device \(device) has \(file) after a kill, and should have \(expected)")
    }

    private mutating func newText(_ kind: String) -> String {
        textCount += 1
        return "\(kind)\(textCount)"
    }

    // MARK: Lists and items

    /// One of those that a command can name: a text may be there twice, because a copy of an item may be.
    private func pick(
        on device: Int, _ random: inout SeededRandom, where isRight: (ListsModel.Entry) -> Bool
    ) -> (id: Int, entry: ListsModel.Entry)? {
        let local = model.copies[device].local
        let found = local.filter { id, entry in
            isRight(entry) && !local.contains { $0.key != id && $0.value.text == entry.text }
        }
        return found.sorted { $0.key < $1.key }.randomElement(using: &random).map { (id: $0.key, entry: $0.value) }
    }

    private mutating func makeList(on device: Int) async throws {
        let text = newText("list")
        try await type("new", text, on: device)
        model.makeList(text, on: device)
    }

    private mutating func add(on device: Int, _ random: inout SeededRandom) async throws {
        guard let list = pick(on: device, &random, where: { $0.list == nil }) else { return }
        let text = newText("item")
        try await type("add", list.entry.text, text, on: device)
        model.add(text, to: list.id, on: device)
    }

    private mutating func edit(on device: Int, _ random: inout SeededRandom) async throws {
        guard let found = pick(on: device, &random, where: { _ in true }) else { return }
        let text = newText(found.entry.list == nil ? "list" : "item")
        try await type("edit", found.entry.text, text, on: device)
        model.edit(found.id, on: device) { $0.text = text }
    }

    private mutating func finish(on device: Int, _ random: inout SeededRandom) async throws {
        guard let item = pick(on: device, &random, where: { $0.list != nil }) else { return }
        try await type(item.entry.isDone ? "undone" : "done", item.entry.text, on: device)
        model.edit(item.id, on: device) { $0.isDone.toggle() }
    }

    private mutating func move(on device: Int, _ random: inout SeededRandom) async throws {
        guard let item = pick(on: device, &random, where: { $0.list != nil }),
            let list = pick(on: device, &random, where: { $0.list == nil && $0.owner == item.entry.owner })
        else { return }
        try await type("move", item.entry.text, list.entry.text, on: device)
        model.edit(item.id, on: device) { $0.list = list.id }
    }

    /// An item, or an own list.
    private mutating func delete(on device: Int, _ random: inout SeededRandom) async throws {
        let account = accounts[device]
        guard let found = pick(on: device, &random, where: { $0.list != nil || $0.owner == account }) else { return }
        try await type("delete", found.entry.text, on: device)
        model.delete(found.id, on: device)
    }

    // MARK: Members

    /// Another person is invited to an own list, and joins it on one of their devices.
    private mutating func invite(by device: Int, _ random: inout SeededRandom) async throws {
        try await sync(device)
        let account = accounts[device]
        guard isRight, let list = pick(on: device, &random, where: { $0.list == nil && $0.owner == account }) else {
            return
        }
        let taking = model.joined[list.id] ?? []
        let others = Set(accounts).subtracting(taking).subtracting([account]).sorted()
        guard let other = others.randomElement(using: &random), let name = house.userNames[other] else { return }
        said.append("\(device) invites \(other) to \(list.entry.text)")
        let link = try await house[device].ask(["invite", list.entry.text, name])
        model.share(list.id)
        shareCount += 1
        // Some never join.
        guard Int.random(in: 0..<8, using: &random) > 0, let guest = self.device(of: other, &random) else { return }
        try await type("join", link, on: guest)
        model.join(other, list.id)
        try await sync(guest)
    }

    /// Somebody leaves, is removed, or the sharing ends.
    private mutating func part(_ device: Int, _ random: inout SeededRandom) async throws {
        try await sync(device)
        let account = accounts[device]
        let joined = model.joined
        guard isRight,
            let list = pick(
                on: device, &random,
                where: { entry in
                    entry.list == nil
                        && (entry.owner != account || joined.contains { model.server[$0.key]?.text == entry.text })
                })
        else { return }
        guard list.entry.owner == account else {
            try await type("leave", list.entry.text, on: device)
            model.leave(account, list.id)
            return try await sync(device)
        }
        if let other = joined[list.id]?.sorted().randomElement(using: &random), Bool.random(using: &random) {
            try await type("remove", list.entry.text, house.userNames[other] ?? "", on: device)
            model.leave(other, list.id)
        } else {
            try await type("stop", list.entry.text, on: device)
            model.stop(list.id)
        }
    }
}
