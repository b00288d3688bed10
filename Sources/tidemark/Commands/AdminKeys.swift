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
            commandName: "rotate-master", abstract: "Close all keys that servers keep by another master key.",
            discussion: """
                One transaction: all of them or none. Servers that run with the old file give nobody keys from then on: \
                start them again with the new one.
                """)

        @Option(help: ArgumentHelp("The file with the master key of today.", valueName: "file")) var old: String
        @Option(help: ArgumentHelp("The file with the new one; made if it is not there.", valueName: "file"))
        var new: String
        @OptionGroup var database: DatabaseOption

        func run() throws {
            guard let oldKey = try MasterKeyFile(path: old).read() else {
                throw CommandError("There is no file \(old). Give the master key file that the servers have.")
            }
            let file = MasterKeyFile(path: new)
            let newKey = try file.read() ?? file.make().key
            guard newKey.check != oldKey.check else {
                throw CommandError("\(old) and \(new) hold the same key. Name a new file, and it will be made.")
            }
            let outcome = try database.withAdminStore { store in
                try await store.rotateMasterKey(from: oldKey.check, to: newKey.check) { escrow, user in
                    oldKey.open(escrow, of: user).map { newKey.close($0, of: user) }
                }
            }
            switch outcome {
            case .done(let keyCount):
                print("Closed \(keyCount) keys by the master key in \(new). Back it up, and start the servers with it.")
            case .isDone:
                print(
                    "The keys are closed by the master key in \(new) already. Back it up, and start the servers with "
                        + "it.")
            case .isOther:
                throw CommandError("\(old) does not hold the database's master key. Nothing was changed.")
            case .unopened(let user):
                throw CommandError(
                    "The key of user \(user.rawValue) does not open by the master key in \(old). Nothing was changed.")
            }
        }
    }
}
