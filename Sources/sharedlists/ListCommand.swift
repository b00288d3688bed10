// SPDX-License-Identifier: Apache-2.0

import CloudKit

/// What a person may type.
enum ListCommand: Equatable {
    case new(String)
    case add(String, list: String)
    case edit(String, text: String)
    case done(String, Bool)
    case move(String, list: String)
    case delete(String)
    case share(String, CKShare.ParticipantPermission)
    case invite(String, list: String)
    case remove(String, list: String)
    case stop(String)
    case join(String)
    case leave(String)
    case me, sync, show

    /// - Parameter words: the command's name, and what it needs.
    init(_ words: [String]) throws {
        let (name, rest) = (words.first ?? "", Array(words.dropFirst()))
        switch (name, rest.count) {
        case ("new", 1): self = .new(rest[0])
        case ("add", 2): self = .add(rest[1], list: rest[0])
        case ("edit", 2): self = .edit(rest[0], text: rest[1])
        case ("done", 1): self = .done(rest[0], true)
        case ("undone", 1): self = .done(rest[0], false)
        case ("move", 2): self = .move(rest[0], list: rest[1])
        case ("delete", 1): self = .delete(rest[0])
        case ("share", 2) where rest[1] == "read": self = .share(rest[0], .readOnly)
        case ("share", 2) where rest[1] == "write": self = .share(rest[0], .readWrite)
        case ("invite", 2): self = .invite(rest[1], list: rest[0])
        case ("remove", 2): self = .remove(rest[1], list: rest[0])
        case ("stop", 1): self = .stop(rest[0])
        case ("join", 1): self = .join(rest[0])
        case ("leave", 1): self = .leave(rest[0])
        case ("me", 0): self = .me
        case ("sync", 0): self = .sync
        case ("show", 0): self = .show
        default: throw ListsError.commandUnknown(words.joined(separator: " "))
        }
    }

    /// The words of a line: between tabs, if there are any, and otherwise between spaces.
    static func words(of line: String) -> [String] {
        let separator: Character = line.contains("\t") ? "\t" : " "
        return line.split(separator: separator, omittingEmptySubsequences: separator == " ").map(String.init)
    }

    /// - Returns: what the person who typed it is told; nil: nothing.
    func run(_ sync: ListSync) async throws -> String? {
        switch self {
        case .new(let title): await sync.makeList(title)
        case .add(let text, let list): try await sync.add(text, to: list)
        case .edit(let name, let text): try await sync.edit(name) { $0.text = text }
        case .done(let name, let isDone): try await sync.edit(name) { $0.isDone = isDone }
        case .move(let name, let list): try await sync.move(name, to: list)
        case .delete(let name): try await sync.delete(name)
        case .share(let list, let permission):
            try await sync.sync()
            return try await sync.share(list, permission)
        case .invite(let person, let list):
            try await sync.sync()
            return try await sync.invite(person, to: list)
        case .remove(let person, let list): try await sync.remove(person, from: list)
        case .stop(let list): try await sync.stopSharing(list)
        case .join(let link):
            try await sync.join(link)
            try await sync.sync()
        case .leave(let list):
            // What was typed before belongs to the others as well.
            try await sync.sync()
            try await sync.leave(list)
            try await sync.sync()
        case .me: return try await sync.me()
        case .sync: try await sync.sync()
        case .show: break
        }
        await sync.show()
        return nil
    }
}
