// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import TidemarkDomain
internal import TidemarkServer
internal import TidemarkStore

struct AdminKeys: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys", abstract: "Keys of encrypted values.", subcommands: [RotateMaster.self])

    struct RotateMaster: AdminCommand {
        static let configuration = CommandConfiguration(
            "rotate-master", abstract: "Encrypt all keys that servers keep with another master key.",
            discussion: """
                All keys change in one transaction, or none. Servers that run with the old file give nobody keys from then \
                on. Start them again with the new file.
                """,
            examples: "tidemark admin keys rotate-master --old master.key --new master-2.key")
        static let role = OperatorRole.owner

        @Option(help: ArgumentHelp("The file with the current master key.", valueName: "file")) var old: String
        @Option(
            help: ArgumentHelp(
                "The file with the new master key. It is created if it does not exist.", valueName: "file"))
        var new: String
        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        func run(_ console: Console) async throws {
            try console.screen.requireLocalFiles("The files of master keys are on the servers' disks.")
            guard let oldKey = try MasterKeyFile(path: old).read() else {
                throw AdminFailure(.refused, "There is no file \(old). Name the master key file of the servers.")
            }
            let file = MasterKeyFile(path: new)
            // Before a file is made: one that nothing is encrypted with misleads.
            guard try await check(oldKey, try file.read(), console) else {
                return console.say(try text(of: .isDone))
            }
            try console.plan("encrypt all keys that servers keep with the master key in \(new)")
            let newKey = try file.read() ?? file.make().key
            guard newKey.check != oldKey.check else { throw isSame }
            let outcome = try await console.store.rotateMasterKey(from: oldKey.check, to: newKey.check) {
                escrow, user in
                oldKey.open(escrow, of: user).map { newKey.close($0, of: user) }
            }
            console.say(try text(of: outcome))
        }

        /// - Returns: false if it is done already.
        /// - Throws: ``AdminFailure`` if it would be refused.
        private func check(_ oldKey: MasterKey, _ newKey: MasterKey?, _ console: Console) async throws -> Bool {
            guard newKey?.check != oldKey.check else { throw isSame }
            let stored = try await console.store.masterKeyCheck()
            if let newKey, stored == newKey.check { return false }
            guard stored == oldKey.check else { throw isOther }
            return true
        }

        private var isSame: AdminFailure {
            AdminFailure(.refused, "\(old) and \(new) hold the same key. Name a new file, and it will be created.")
        }

        private var isOther: AdminFailure {
            AdminFailure(
                .refused,
                "\(old) does not hold the database's master key. Nothing was changed. Name the master key file of the "
                    + "servers.")
        }

        private func text(of outcome: AdminStore.MasterKeyChange) throws(AdminFailure) -> String {
            let next = "Back it up, and start the servers with it."
            switch outcome {
            case .done(let keyCount): return "Encrypted \(keyCount) keys with the master key in \(new). \(next)"
            case .isDone: return "The keys are already encrypted with the master key in \(new). \(next)"
            case .isOther: throw isOther
            case .unopened(let user):
                throw AdminFailure(
                    .refused,
                    "The key of user \(user.rawValue) cannot be decrypted with the master key in \(old). Nothing was "
                        + "changed. Restore it from a backup, or reset that account's keys (tidemark admin accounts "
                        + "set-encryption … --reset).")
            }
        }
    }
}
