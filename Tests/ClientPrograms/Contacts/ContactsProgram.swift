// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A contacts list whose user types. Arguments: the file of the list, and `manual` or `automatic`.
///
/// Commands, one on each line with tabs between their words: `save ID NAME PHONE`, `delete ID`, `erase`, `sync`, `show`. Each is
/// answered by `ok` or `error …`. Whenever something may have changed, and for `show`, comes a line `data PENDING CONTACTS`.
@main
enum ContactsProgram {
    static func main() async throws {
        let arguments = CommandLine.arguments
        let database = try SyncedDatabase(
            dataURL: URL(fileURLWithPath: arguments[1]), automaticallySync: arguments[2] == "automatic"
        ) { items, pendingCount in Terminal.show(items, pendingCount) }
        // The engine begins with its first use.
        _ = await database.syncEngine
        for await words in Terminal.commands {
            do {
                try await run(words, database)
                Terminal.say("ok")
            } catch {
                Terminal.say("error \(error)")
            }
        }
    }

    private static func run(_ words: [String], _ database: SyncedDatabase) async throws {
        switch (words[0], words.count) {
        case ("save", 4): try await database.save(id: words[1], name: words[2], phone: words[3])
        case ("delete", 2): try await database.delete(id: words[1])
        case ("erase", 1): try await database.deleteEverything()
        case ("sync", 1): try await database.sync()
        case ("show", 1): await database.show()
        default: throw CocoaError(.featureUnsupported)
        }
    }
}
