// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A store of notes whose user types. Arguments: its directory, and `manual` or `automatic`.
///
/// Commands, one on each line with tabs between their words: `title ID TEXT`, `body ID TEXT`, `tag ID TAG`, `untag ID TAG`,
/// `delete ID`, `erase`, `sync`, `show`. Each is answered by `ok` or `error …`. Whenever something may have changed, and for
/// `show`, comes a line `data PENDING NOTES`.
@main
enum NotesProgram {
    static func main() async throws {
        let arguments = CommandLine.arguments
        let sync = try NoteSync(directory: URL(fileURLWithPath: arguments[1], isDirectory: true)) {
            items, pendingCount in
            Terminal.show(items, pendingCount)
        }
        await sync.start(automatically: arguments[2] == "automatic")
        for await words in Terminal.commands {
            do {
                try await run(words, sync)
                Terminal.say("ok")
            } catch {
                Terminal.say("error \(error)")
            }
        }
    }

    private static func run(_ words: [String], _ sync: NoteSync) async throws {
        switch (words[0], words.count) {
        case ("title", 3): await sync.edit(words[1]) { $0.title = words[2] }
        case ("body", 3): await sync.edit(words[1]) { $0.body = words[2] }
        case ("tag", 3): await sync.edit(words[1]) { $0.tags.insert(words[2]) }
        case ("untag", 3): await sync.edit(words[1]) { $0.tags.remove(words[2]) }
        case ("delete", 2): await sync.delete(words[1])
        case ("erase", 1): await sync.erase()
        case ("sync", 1): try await sync.sync()
        case ("show", 1): await sync.show()
        default: throw CocoaError(.featureUnsupported)
        }
    }
}
