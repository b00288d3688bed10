// SPDX-License-Identifier: Apache-2.0

import CloudKit

/// What a person sees of a store.
struct ListPicture: Equatable, Sendable {
    struct ShownItem: Equatable, Sendable {
        let id: String
        let text: String
        let isDone: Bool
    }

    struct List: Equatable, Sendable {
        let id: String
        let title: String
        /// The name of its owner's user record; nil: it is one's own.
        let owner: String?
        let members: [ListShare.Member]
        let link: String?
        let items: [ShownItem]
    }

    let lists: [List]
    /// How many rows the server is still to be told of.
    let pendingCount: Int

    init(_ store: ListStore) {
        let entries = store.entries
        pendingCount = entries.count(where: \.isDirty)
        var shares: [CKRecord.ID: ListShare] = [:]
        for share in store.shares { shares[share.id] = share }
        // An item that is here before its list is shown with it.
        var items: [CKRecord.ID: [ShownItem]] = [:]
        for entry in entries where entry.kind == .item && !entry.isDeleted {
            guard let listID = entry.listID else { continue }
            let fields = entry.fields
            items[listID, default: []].append(
                ShownItem(id: entry.id.recordName, text: fields.text, isDone: fields.isDone))
        }
        var lists: [List] = []
        for list in entries where list.kind == .list && !list.isDeleted {
            let share = list.shareID.flatMap { shares[$0] }
            let owner = list.isMine ? nil : list.id.zoneID.ownerName
            lists.append(
                List(
                    id: list.id.recordName, title: list.fields.text, owner: owner, members: share?.members ?? [],
                    link: share?.link, items: items[list.id] ?? []))
        }
        self.lists = lists
    }
}

extension ListPicture: CustomStringConvertible {
    /// For people.
    var description: String {
        var lines: [String] = []
        for list in lists {
            let owner = list.owner == nil ? "" : ", shared with you"
            lines.append("\(list.title)\(owner)  (\(list.id))")
            for member in list.members { lines.append(Self.line(member)) }
            if let link = list.link { lines.append("  link: \(link)") }
            for item in list.items {
                let mark = item.isDone ? "x" : " "
                lines.append("  [\(mark)] \(item.text)  (\(item.id))")
            }
        }
        if pendingCount > 0 { lines.append("\(pendingCount) to be sent") }
        return lines.joined(separator: "\n")
    }

    private static func line(_ member: ListShare.Member) -> String {
        let name = member.name + (member.isMe ? " (you)" : "")
        if member.isOwner { return "  with \(name): owner" }
        let joined = member.hasJoined ? "" : ", not joined yet"
        return "  with \(name): may \(member.mayWrite ? "write" : "read")\(joined)"
    }

    /// For programs: by the record's name.
    var json: String {
        var all: [String: [String: String]] = [:]
        for list in lists {
            let joined = list.members.count { $0.hasJoined && !$0.isOwner }
            all[list.id] = [
                "kind": "list", "text": list.title, "owner": list.owner ?? "", "joined": "\(joined)",
            ]
            for item in list.items {
                all[item.id] = [
                    "kind": "item", "text": item.text, "list": list.title, "done": item.isDone ? "yes" : "no",
                ]
            }
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return String(decoding: (try? encoder.encode(all)) ?? Data(), as: UTF8.self)
    }
}
