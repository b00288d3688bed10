// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import TidemarkDomain
internal import TidemarkStore

struct AdminAccounts: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "accounts", abstract: "Accounts: who may sign in.",
        subcommands: [
            Create.self, List.self, SetName.self, SetEncryption.self, Quota.self, AddAddress.self, RemoveAddress.self,
            Addresses.self,
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
                ["ACCOUNT", "CREATED", "CREDENTIALS", "DEVICES", "ENCRYPTION", "NAME"],
                accounts.map { account in
                    [
                        account.name, Table.date(account.createdAt), "\(account.credentialCount)",
                        "\(account.deviceCount)", SetEncryption.Mode(account.encryptionMode).rawValue,
                        account.personName?.text ?? "",
                    ]
                })
        }
    }
}

extension AdminAccounts {
    struct SetName: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "set-name", abstract: "Set the name of an account's person, which others in a share see.",
            discussion: """
                A share shows it of its owner and of those who have accepted. Both parts are replaced. Devices have the new \
                name once the share changes, or when they fetch it.
                """)

        @Argument(help: "The account's name.") var name: String
        @Option(help: ArgumentHelp("The given name.", valueName: "name")) var given: String?
        @Option(help: ArgumentHelp("The family name.", valueName: "name")) var family: String?
        @Flag(help: "Remove the name.") var clear = false
        @OptionGroup var database: DatabaseOption

        private var personName: PersonName? { PersonName(given: given ?? "", family: family ?? "") }

        func validate() throws {
            let hasPart = given != nil || family != nil
            if clear, hasPart { throw ValidationError("--clear takes no other choice.") }
            guard !clear else { return }
            guard let personName else {
                throw ValidationError("Give --given NAME, --family NAME or both. To remove the name: --clear")
            }
            guard personName.isValid(limits: .standard) else {
                throw ValidationError(
                    "A part of a name has 1 to \(Limits.standard.personNameBytesMax) bytes, not only spaces, and no line breaks "
                        + "or control characters.")
            }
        }

        func run() throws {
            let (name, personName) = (name, personName)
            try database.withAdminStore { store in
                try await store.setPersonName(personName, of: try await AccountName.find(name, in: store))
            }
            print(personName.map { "\(name) is \($0.text)." } ?? "\(name) has no name any more.")
        }
    }
}

extension PersonName {
    /// As an operator reads it.
    fileprivate var text: String { [given, family].filter { !$0.isEmpty }.joined(separator: " ") }
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
