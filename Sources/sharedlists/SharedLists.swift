// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CloudKit

/// Lists with items, each list shared with whom one likes, kept in SQLite.
@main
struct SharedLists: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sharedlists",
        abstract: "Keeps lists equal on all devices of an account, and of those with whom a list is shared.",
        usage: """
            sharedlists STORE
            sharedlists STORE COMMAND WORDS
            """,
        discussion: """
            The server is named by the environment: TIDEMARK_URL, TIDEMARK_TOKEN, TIDEMARK_CA, TIDEMARK_CONTAINER \
            (`tidemark dev` prints them). STORE is a directory, in which the lists are kept in lists.sqlite. Each device has \
            one of its own.

            Without a command it syncs all the time, and reads commands, one on each line:

              show                  the lists, who takes part, and what is to be sent
              new LIST              a list
              add LIST ITEM         an item of a list
              edit NAME TEXT        another text for an item or a list
              done ITEM             and undone ITEM
              move ITEM LIST        to another list of the same owner
              delete NAME           an item, or an own list with all that is in it
              share LIST read       lets everybody in who has the link, which it prints
              share LIST write      the same, and they may change the list
              invite LIST PERSON    lets somebody in, by address, number or what me prints
              remove LIST PERSON    from a list that is not shared with everybody
              stop LIST             ends the sharing
              join LINK             a list of somebody else
              leave LIST            that list again
              me                    the name by which others invite this account
              sync                  sends and fetches all

            Things are named by their texts, or by the IDs that show tells. Words end at spaces, or at tabs if a line has any.

            Who takes part may change items, and the title. Edits are merged field by field. What is edited on one device and \
            deleted on another stays. What somebody may not send any more is told, and not kept.
            """)

    @Argument(help: "The directory of the lists. It is made if it does not exist.")
    var store: String

    @Argument(help: "A command. It is carried out, all is synced, and the program ends.")
    var command: [String] = []

    @Flag(help: "Sync only when told.")
    var manual = false

    @Flag(help: "Show the lists as lines of JSON, for programs.")
    var json = false

    func run() async throws {
        let isJSON = json
        let sync = try ListSync(directory: URL(fileURLWithPath: store, isDirectory: true)) { picture in
            if isJSON { Self.say("data \(picture.pendingCount) \(picture.json)") }
        } tell: { problem in
            Self.say(isJSON ? "problem \(problem)" : problem)
        }
        guard command.isEmpty else { return try await runOnce(sync) }
        await sync.start(automatically: !manual)
        for await line in Self.lines {
            let words = ListCommand.words(of: line)
            guard !words.isEmpty else { continue }
            do {
                let command = try ListCommand(words)
                try await tell(command.run(sync), command, sync)
                if json { Self.say("ok") }
            } catch {
                Self.say("error \(error)")
            }
        }
    }

    private func runOnce(_ sync: ListSync) async throws {
        let command = try ListCommand(command)
        await sync.start(automatically: false)
        // A list may be new on another device, and so may be what this command is about. Without a network it is done later.
        var failure: (any Error)?
        do { try await sync.sync() } catch { failure = error }
        try await tell(command.run(sync), command, sync)
        if let failure { throw failure }
        try await sync.sync()
    }

    private func tell(_ answer: String?, _ command: ListCommand, _ sync: ListSync) async {
        if let answer { Self.say(json ? "told \(answer)" : answer) }
        if command == .show, !json { await Self.say(sync.picture.description) }
    }

    /// What is typed, to the end of the input.
    private static var lines: AsyncStream<String> {
        AsyncStream { continuation in
            // Reading waits: on a thread of its own.
            Thread.detachNewThread {
                while let line = readLine() { continuation.yield(line) }
                continuation.finish()
            }
        }
    }

    /// Written at once, also into a pipe. Texts of others may contain control sequences for the terminal.
    private static func say(_ text: String) {
        let printable = text.unicodeScalars.map { scalar in
            let isControl = scalar.properties.generalCategory == .control && scalar != "\n"
            return isControl ? scalar.escaped(asASCII: true) : String(scalar)
        }
        FileHandle.standardOutput.write(Data((printable.joined() + "\n").utf8))
    }
}
