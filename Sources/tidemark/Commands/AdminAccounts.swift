// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import TidemarkDomain
internal import TidemarkStore

struct AdminAccounts: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "accounts", abstract: "Accounts: who may sign in.",
        subcommands: [
            Create.self, List.self, SetEncryption.self, Quota.self, AddAddress.self, RemoveAddress.self, Addresses.self,
        ])

    struct Create: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Create an account.")

        @Argument(help: "A name that no other account has.") var name: String
        @OptionGroup var database: DatabaseOption

        func validate() throws {
            try AccountName.check(name)
        }

        func run() throws {
            let name = name
            guard try database.withAdminStore({ try await $0.createAccount(name) }) != nil else {
                throw CommandError("There is already an account named \(name). Choose another name.")
            }
            print("Created \(name). Next: tidemark admin credentials issue \(name)")
        }
    }

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List all accounts.")

        @OptionGroup var database: DatabaseOption

        func run() throws {
            let accounts = try database.withAdminStore { try await $0.accounts() }
            Table.print(
                ["ACCOUNT", "CREATED", "CREDENTIALS", "DEVICES", "ENCRYPTION"],
                accounts.map { account in
                    [
                        account.name, Table.date(account.createdAt), "\(account.credentialCount)",
                        "\(account.deviceCount)", SetEncryption.Mode(account.encryptionMode).rawValue,
                    ]
                })
        }
    }
}

extension AdminAccounts {
    struct SetEncryption: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "set-encryption", abstract: "Choose how the keys of an account's encrypted values are kept.",
            discussion: """
                escrowed: servers keep the account's key, encrypted with their master key, and give it to the account's \
                devices. end-to-end: no server ever has the key. People carry a recovery key from device to device. If they \
                lose it and all devices, the encrypted values are lost. Choose before the account has a key. Afterwards only \
                --reset changes the mode, and it deletes all zones with encrypted values.
                """)

        enum Mode: String, ExpressibleByArgument, CaseIterable {
            case escrowed
            case endToEnd = "end-to-end"

            init(_ mode: EncryptionMode) { self = mode == .escrowed ? .escrowed : .endToEnd }
        }

        @Argument(help: "The account's name.") var name: String
        @Argument(help: "escrowed or end-to-end.") var mode: Mode
        @Flag(
            help: ArgumentHelp(
                "Forget existing keys, and delete the zones with encrypted values.",
                discussion: "Devices create them again and upload what they have (reason: encryptedDataReset)."))
        var reset = false
        @OptionGroup var database: DatabaseOption

        func run() throws {
            let (name, reset) = (name, reset)
            let mode: EncryptionMode = mode == .escrowed ? .escrowed : .endToEnd
            let change = try database.withAdminStore { store in
                try await store.setEncryptionMode(
                    mode, of: try await AccountName.find(name, in: store), resets: reset)
            }
            guard case .done(let endedZoneCount) = change else {
                throw CommandError(
                    "\(name) already has keys. To forget them, and delete all zones with encrypted values, add --reset."
                )
            }
            let ended = endedZoneCount > 0 ? " Zones that were deleted: \(endedZoneCount)." : ""
            print("\(name) has \(self.mode.rawValue) encryption.\(ended)")
        }
    }
}

/// Checks names of accounts, which people read and type on command lines.
enum AccountName {
    static func check(_ name: String) throws {
        let isGood = (1...255).contains(name.utf8.count) && name.utf8.allSatisfy { (0x21...0x7E).contains($0) }
        guard isGood, !name.hasPrefix("-") else {
            throw ValidationError("An account's name is 1 to 255 printable ASCII characters without spaces.")
        }
    }

    /// - Throws: ``CommandError`` if there is no such account.
    static func find(_ name: String, in store: AdminStore) async throws -> AccountID {
        guard let account = try await store.account(named: name) else {
            throw CommandError("There is no account named \(name). Create it: tidemark admin accounts create \(name)")
        }
        return account
    }
}
