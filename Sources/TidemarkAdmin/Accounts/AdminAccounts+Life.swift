// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import TidemarkDomain
internal import TidemarkStore

extension AdminAccounts {
    struct Disable: AdminCommand {
        static let configuration = CommandConfiguration(
            "disable", abstract: "Stop an account from signing in. Nothing is deleted.",
            discussion: """
                Servers close its sessions at once. Its apps get accountTemporarilyUnavailable and keep what they have not \
                sent. Others keep what it shares with them.
                """,
            examples: "tidemark admin accounts disable alice")
        static let role = OperatorRole.editor

        @Argument(help: "The account's name.", completion: .live(.accounts)) var account: String
        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        func run(_ console: Console) async throws {
            try await AdminAccounts.setDisabled(true, account, console)
        }
    }

    struct Enable: AdminCommand {
        static let configuration = CommandConfiguration(
            "enable", abstract: "Let a disabled account sign in again.",
            examples: "tidemark admin accounts enable alice")
        static let role = OperatorRole.editor

        @Argument(help: "The account's name.", completion: .live(.accounts)) var account: String
        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        func run(_ console: Console) async throws {
            try await AdminAccounts.setDisabled(false, account, console)
        }
    }

    private static func setDisabled(_ isDisabled: Bool, _ name: String, _ console: Console) async throws {
        let id = try await console.account(name)
        try console.plan("\(isDisabled ? "disable" : "enable") the account \(name)")
        let change = try await console.store.setDisabled(isDisabled, id)
        let state = isDisabled ? "disabled" : "enabled"
        console.say(change == .unchanged ? "\(name) was \(state) already." : "\(name) is \(state).")
    }
}

extension AdminAccounts {
    struct Delete: AdminCommand {
        static let configuration = CommandConfiguration(
            "delete", abstract: "Delete an account with all that it owns.",
            discussion: """
                Its private zones, credentials, devices, addresses, roles, subscriptions and keys go. Its shares end for their \
                participants, and its parts in others' shares end. The files of its assets go with the next collection of a \
                server. Records that it made in public databases stay, because others use them, unless --public-records says \
                otherwise; its user records there are emptied. If the command is cut off, run it again.
                """,
            examples: "tidemark admin accounts delete alice --dry-run",
            "tidemark admin accounts delete alice --public-records delete")
        static let role = OperatorRole.owner

        /// What becomes of the records that the account made in public databases.
        enum PublicRecords: String, ExpressibleByArgument, CaseIterable, Sendable {
            case keep, delete
        }

        @Argument(help: "The account's name.", completion: .live(.accounts)) var account: String
        @Option(help: "keep or delete the records that it made in public databases.")
        var publicRecords: PublicRecords = .keep
        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        func run(_ console: Console) async throws {
            let id = try await console.account(account)
            let removal = AccountRemoval(
                account: id, users: try await console.store.users(of: id), deletesPublic: publicRecords == .delete)
            guard let loss = try await removal.loss(console.store) else {
                throw AdminFailure(.refused, "There is no account named \(account) any more.")
            }
            try await console.confirm("delete the account \(account)", loss: loss, typing: account)
            try await removal.run(console)
            console.say("Deleted \(account).")
        }
    }
}
