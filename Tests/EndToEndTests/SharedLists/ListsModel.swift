// SPDX-License-Identifier: Apache-2.0

/// What people and devices have, said as simply as can be: a device is what it had at its last sync, and what it has now.
struct ListsModel {
    typealias ID = Int
    typealias Entries = [ID: Entry]

    struct Entry: Equatable {
        var text: String
        var isDone = false
        /// Nil: it is a list.
        var list: ID?
        let owner: String

        /// What was edited since `before` stays.
        func merging(_ mine: Entry, since before: Entry) -> Entry {
            var merged = self
            if mine.text != before.text { merged.text = mine.text }
            if mine.isDone != before.isDone { merged.isDone = mine.isDone }
            if mine.list != before.list { merged.list = mine.list }
            return merged
        }
    }

    struct Copy {
        let account: String
        var base: Entries = [:]
        var local: Entries = [:]
        /// Lists as they were when they were deleted here.
        var deletedLists: Entries = [:]
        /// How often all lists of each other person had ended for the account by the last sync.
        var ends: [String: Int] = [:]
    }

    private(set) var server: Entries = [:]
    /// Of each list that is shared, who has joined.
    private(set) var joined: [ID: Set<String>] = [:]
    private(set) var copies: [Copy]
    /// By account: how often it has lost its last list of each other person.
    private var ends: [String: [String: Int]] = [:]
    private var lastID = 0

    init(accounts: [String]) {
        copies = accounts.map { Copy(account: $0) }
    }

    func visible(to account: String) -> Entries {
        server.filter { id, entry in
            entry.owner == account || joined[entry.list ?? id]?.contains(account) == true
        }
    }

    private mutating func newID() -> ID {
        lastID += 1
        return lastID
    }

    // MARK: What people do on a device

    mutating func makeList(_ text: String, on device: Int) {
        copies[device].local[newID()] = Entry(text: text, owner: copies[device].account)
    }

    mutating func add(_ text: String, to list: ID, on device: Int) {
        guard let owner = copies[device].local[list]?.owner else { return }
        copies[device].local[newID()] = Entry(text: text, list: list, owner: owner)
    }

    mutating func edit(_ id: ID, on device: Int, _ change: (inout Entry) -> Void) {
        guard var entry = copies[device].local[id] else { return }
        change(&entry)
        copies[device].local[id] = entry
    }

    mutating func delete(_ id: ID, on device: Int) {
        let entry = copies[device].local.removeValue(forKey: id)
        guard let entry, entry.list == nil else { return }
        copies[device].deletedLists[id] = entry
        copies[device].local = copies[device].local.filter { $0.value.list != id }
    }

    // MARK: Members

    mutating func share(_ list: ID) {
        setJoined(joined[list] ?? [], in: list, of: server[list]?.owner)
    }

    mutating func stop(_ list: ID) { setJoined(nil, in: list, of: server[list]?.owner) }

    mutating func join(_ account: String, _ list: ID) {
        setJoined((joined[list] ?? []).union([account]), in: list, of: server[list]?.owner)
    }

    mutating func leave(_ account: String, _ list: ID) {
        setJoined(joined[list]?.subtracting([account]), in: list, of: server[list]?.owner)
    }

    private mutating func setJoined(_ people: Set<String>?, in list: ID, of owner: String?) {
        guard let owner else { return }
        let before = joined[list] ?? []
        joined[list] = people
        for account in before.subtracting(people ?? []) {
            let isLast = !joined.contains { server[$0.key]?.owner == owner && $0.value.contains(account) }
            if isLast { ends[account, default: [:]][owner, default: 0] += 1 }
        }
    }

    // MARK: Sync

    mutating func sync(_ device: Int) {
        var copy = copies[device]
        let account = copy.account
        for (owner, count) in ends[account, default: [:]] where copy.ends[owner, default: 0] != count {
            // All of that person's lists had gone. Some of them may have come again since, as new ones.
            copy.base = copy.base.filter { $0.value.owner != owner }
            copy.local = copy.local.filter { $0.value.owner != owner }
        }
        let seen = visible(to: account)
        let merged = merge(copy, with: seen)
        for id in Set(seen.keys).union(merged.keys) where merged[id] != seen[id] {
            server[id] = merged[id]
            if merged[id] == nil, let list = seen[id], list.list == nil { setJoined(nil, in: id, of: list.owner) }
        }
        copy.base = visible(to: account)
        copy.local = copy.base
        copy.deletedLists = [:]
        copy.ends = ends[account, default: [:]]
        copies[device] = copy
    }

    private mutating func merge(_ copy: Copy, with seen: Entries) -> Entries {
        var merged = seen
        for id in Set(copy.base.keys).union(copy.local.keys).sorted() {
            switch (copy.base[id], copy.local[id], seen[id]) {
            case (let before?, nil, let theirs?):
                // An edit outlives a deletion.
                if theirs == before { merged[id] = nil }
            case (let before?, let mine?, let theirs?):
                merged[id] = theirs.merging(mine, since: before)
            case (nil, let mine?, _):
                merged[id] = mine
            case (let before?, let mine?, nil) where mine != before:
                if mine.list != nil {
                    merged[newID()] = mine
                } else if mine.owner == copy.account {
                    merged[id] = mine
                }
            default:
                break
            }
        }
        for (id, entry) in merged.sorted(by: { $0.key < $1.key }) {
            guard let list = entry.list, merged[list] == nil else { continue }
            if entry.owner != copy.account {
                // What was moved here into a list that is gone is where it was, and what was made in it is dropped.
                merged[id]?.list = seen[id]?.list
                if seen[id] == nil { merged[id] = nil }
            } else if let deleted = copy.deletedLists[list], let theirs = seen[list], let before = copy.base[list] {
                // Somebody has put something into a list that was deleted here.
                merged[list] = theirs.merging(deleted, since: before)
            } else {
                // Something was edited here in a list that was deleted elsewhere.
                merged[list] = copy.local[list]
            }
        }
        return merged
    }

    // MARK: What there is to see

    /// A line for each list and each item, in order: what the files are compared by.
    static func lines(_ entries: Entries) -> [String] {
        entries.map { id, entry in
            line(
                owner: entry.owner, list: entry.list.map { entries[$0]?.text ?? "?" }, text: entry.text,
                isDone: entry.isDone)
        }.sorted()
    }

    static func line(owner: String, list: String?, text: String, isDone: Bool) -> String {
        guard let list else { return "\(owner): \(text)" }
        return "\(owner): \(list): [\(isDone ? "x" : " ")] \(text)"
    }
}
