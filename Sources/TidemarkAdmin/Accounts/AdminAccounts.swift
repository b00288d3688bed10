// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import TidemarkDomain
internal import TidemarkStore

struct AdminAccounts: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "accounts", abstract: "Accounts: who may sign in.",
        subcommands: [
            List.self, Show.self, Create.self, Disable.self, Enable.self, Delete.self, Export.self, Import.self,
            SetName.self, SetEncryption.self, SetAccountQuota.self, SetAccountLimit.self,
        ])

    struct List: AdminCommand {
        static let configuration = CommandConfiguration(
            "list", abstract: "List all accounts.", examples: "tidemark admin accounts list",
            "tidemark admin accounts list -o name")
        static let role = OperatorRole.viewer

        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        /// Rows of one page.
        private static let pageMax = 1_000

        func run(_ console: Console) async throws {
            var last: String? = ""
            while let after = last {
                let page = try await console.store.accounts(after: after, countMax: Self.pageMax)
                try await console.show(page, as: AdminAccounts.columns)
                last = page.count == Self.pageMax ? page.last?.name : nil
            }
        }
    }

    struct Show: AdminCommand {
        static let configuration = CommandConfiguration(
            "show", abstract: "Show an account, its quota and what it holds in all containers.",
            examples: "tidemark admin accounts show alice")
        static let role = OperatorRole.viewer

        @Argument(help: "The account's name.", completion: .live(.accounts)) var account: String
        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        func run(_ console: Console) async throws {
            let id = try await console.account(account)
            guard let shown = try await console.store.account(shownAs: account) else {
                throw AdminFailure.noAccount(account)
            }
            let own = try await console.store.quota(ofAccount: id)
            let quota = if let own { Int64?.some(own) } else { try await console.store.quota(ofAccount: nil) }
            let use = try await console.store.use(ofAccount: id)
            let addresses = try await console.store.addresses(of: id).map(\.text)
            try await console.show(
                [shown],
                as: AdminAccounts.columns + [
                    Column("QUOTA BYTES", key: "quotaBytes") { _ in .optional(quota.map { Int($0) }) },
                    Column("OWN QUOTA", key: "hasOwnQuota") { _ in .flag(own != nil) },
                    Column("BYTES", key: "bytes") { _ in .optional(use.map { Int($0.byteCount) }) },
                    Column("ADDRESSES", key: "addresses") { _ in .list(addresses.map { .text($0) }) },
                ] + (try await AccountNumbers(of: id, console.store)?.columns() ?? []))
        }
    }

    struct Create: AdminCommand {
        static let configuration = CommandConfiguration(
            "create", abstract: "Create an account.", examples: "tidemark admin accounts create alice")
        static let role = OperatorRole.editor

        @Argument(help: "A name that no other account has.") var account: String
        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        func validate() throws {
            guard AccountName.isValid(account) else {
                throw ValidationError("An account's name is 1 to 255 printable ASCII characters without spaces.")
            }
        }

        func run(_ console: Console) async throws {
            let isTaken = AdminFailure(
                .refused, "There is already an account named \(account). Choose another name.")
            guard try await console.store.account(named: account) == nil else { throw isTaken }
            try console.plan("create the account \(account)")
            guard try await console.store.createAccount(account) != nil else { throw isTaken }
            console.say("Created \(account). Next: tidemark admin credentials create \(account)")
        }
    }

    private static var columns: [Column<AdminStore.Account>] {
        [
            Column("ACCOUNT", key: "account", isName: true) { .text($0.name) },
            Column("CREATED", key: "created") { .date($0.createdAt) },
            Column("CREDENTIALS", key: "credentials") { .number($0.credentialCount) },
            Column("DEVICES", key: "devices") { .number($0.deviceCount) },
            Column("ENCRYPTION", key: "encryption") { .text(EncryptionArgument($0.encryptionMode).rawValue) },
            Column("NAME", key: "name") { .optional($0.personName?.text) },
            Column("DISABLED", key: "disabled") { .optional($0.disabledAt) },
        ]
    }
}

extension AdminAccounts {
    struct SetName: AdminCommand {
        static let configuration = CommandConfiguration(
            "set-name", abstract: "Set the person's name that others in a share see.",
            discussion: """
                Whoever sees a share sees the names of its owner and of those who have accepted. Both parts are replaced. \
                Devices have the new name once the share changes, or when they fetch it.
                """,
            examples: "tidemark admin accounts set-name alice --given Alice --family Anderson",
            "tidemark admin accounts set-name alice --clear")
        static let role = OperatorRole.editor

        @Argument(help: "The account's name.", completion: .live(.accounts)) var account: String
        @Option(help: ArgumentHelp("The given name.", valueName: "name")) var given: String?
        @Option(help: ArgumentHelp("The family name.", valueName: "name")) var family: String?
        @Flag(help: "Remove the name.") var clear = false
        @OptionGroup(title: "Options of all commands") var options: AdminOptions

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
                    "A part of a name has 1 to \(Limits.standard.personNameBytesMax) bytes, not only spaces, and no line "
                        + "breaks or control characters.")
            }
        }

        func run(_ console: Console) async throws {
            let id = try await console.account(account)
            try console.plan("set the name of \(account)")
            try await console.store.setPersonName(personName, of: id)
            console.say(personName.map { "\(account) is \($0.text)." } ?? "\(account) has no name any more.")
        }
    }

    struct SetEncryption: AdminCommand {
        static let configuration = CommandConfiguration(
            "set-encryption", abstract: "Choose how the keys of an account's encrypted values are kept.",
            discussion: """
                escrowed: servers keep the account's key, encrypted with their master key, and give it to the account's \
                devices. end-to-end: no server ever has the key. People carry a recovery key from device to device. If they \
                lose it and all devices, the encrypted values are lost. Choose before the account has a key. Afterwards only \
                --reset changes the mode, and it deletes all zones with encrypted values.
                """,
            examples: "tidemark admin accounts set-encryption alice end-to-end",
            "tidemark admin accounts set-encryption alice escrowed --reset --dry-run")
        static let role = OperatorRole.owner

        @Argument(help: "The account's name.", completion: .live(.accounts)) var account: String
        @Argument(help: "escrowed or end-to-end.") var mode: EncryptionArgument
        @Flag(
            help: ArgumentHelp(
                "Forget existing keys, and delete the zones with encrypted values.",
                discussion: "Devices create them again and upload what they have (reason: encryptedDataReset)."))
        var reset = false
        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        func run(_ console: Console) async throws {
            let id = try await console.account(account)
            let action = "set the encryption of \(account) to \(mode.rawValue)"
            if reset {
                let count = try await console.store.keyedZoneCount(of: id)
                try await console.confirm(
                    action,
                    loss:
                        "The account's keys are forgotten. Zones with encrypted values that will be deleted: "
                        + "\(Amount.text(count, "zone")).",
                    typing: account)
            } else {
                guard try await !console.store.hasKeys(id) else { throw hasKeys }
                try console.plan(action)
            }
            let change = try await console.store.setEncryptionMode(mode.value, of: id, resets: reset)
            guard case .done(let endedZoneCount) = change else { throw hasKeys }
            let ended = endedZoneCount > 0 ? " Zones that were deleted: \(endedZoneCount)." : ""
            console.say("\(account) has \(mode.rawValue) encryption.\(ended)")
        }

        private var hasKeys: AdminFailure {
            AdminFailure(
                .refused,
                "\(account) already has keys. To forget them, and delete all zones with encrypted values, add --reset.")
        }
    }
}

/// How keys are kept, on a command line.
enum EncryptionArgument: String, ExpressibleByArgument, CaseIterable, Codable {
    case escrowed
    case endToEnd = "end-to-end"

    init(_ mode: EncryptionMode) { self = mode == .escrowed ? .escrowed : .endToEnd }

    var value: EncryptionMode { self == .escrowed ? .escrowed : .endToEnd }
}

extension PersonName {
    /// As an operator reads it.
    fileprivate var text: String { [given, family].filter { !$0.isEmpty }.joined(separator: " ") }
}
