// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import TidemarkDomain
internal import TidemarkServer
internal import TidemarkStore

struct AdminKeys: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys", abstract: "Keys of encrypted values.", subcommands: [RotateMaster.self])

    struct RotateMaster: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "rotate-master", abstract: "Encrypt all keys that servers keep with another master key.",
            discussion: """
                All keys change in one transaction, or none. Servers that run with the old file give nobody keys from then \
                on. Start them again with the new file.
                """)

        @Option(help: ArgumentHelp("The file with the current master key.", valueName: "file")) var old: String
        @Option(
            help: ArgumentHelp(
                "The file with the new master key. It is created if it does not exist.", valueName: "file"))
        var new: String
        @OptionGroup var database: DatabaseOption

        func run() throws {
            guard let oldKey = try MasterKeyFile(path: old).read() else {
                throw CommandError("There is no file \(old). Name the master key file of the servers.")
            }
            let file = MasterKeyFile(path: new)
            let newKey = try file.read() ?? file.make().key
            guard newKey.check != oldKey.check else {
                throw CommandError("\(old) and \(new) hold the same key. Name a new file, and it will be created.")
            }
            let outcome = try database.withAdminStore { store in
                try await store.rotateMasterKey(from: oldKey.check, to: newKey.check) { escrow, user in
                    oldKey.open(escrow, of: user).map { newKey.close($0, of: user) }
                }
            }
            switch outcome {
            case .done(let keyCount):
                print(
                    "Encrypted \(keyCount) keys with the master key in \(new). Back it up, and start the servers with it."
                )
            case .isDone:
                print(
                    "The keys are already encrypted with the master key in \(new). Back it up, and start the servers with "
                        + "it.")
            case .isOther:
                throw CommandError(
                    "\(old) does not hold the database's master key. Nothing was changed. Name the master key file of the servers."
                )
            case .unopened(let user):
                throw CommandError(
                    "The key of user \(user.rawValue) cannot be decrypted with the master key in \(old). Nothing was changed. "
                        + "Restore it from a backup, or reset that account's keys (tidemark admin accounts set-encryption … --reset)."
                )
            }
        }
    }
}
