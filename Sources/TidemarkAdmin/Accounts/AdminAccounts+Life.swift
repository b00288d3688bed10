// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import TidemarkDomain
internal import TidemarkService
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
        if !isDisabled, try await console.store.isEnding(id) {
            throw AdminFailure(
                .refused,
                "The deletion of \(name) has begun, and a part of it may be gone. To complete it: tidemark admin accounts "
                    + "delete \(name)")
        }
        let state = isDisabled ? "disabled" : "enabled"
        if console.isDryRun, let shown = try await console.store.account(shownAs: name),
            (shown.disabledAt != nil) == isDisabled
        {
            return console.say("\(name) was \(state) already.")
        }
        try console.plan("\(isDisabled ? "disable" : "enable") the account \(name)")
        let change = try await console.store.setDisabled(isDisabled, id)
        console.say(change == .unchanged ? "\(name) was \(state) already." : "\(name) is \(state).")
    }
}

extension AdminAccounts {
    struct Delete: AdminCommand {
        static let configuration = CommandConfiguration(
            "delete", abstract: "Delete an account with all that it owns.",
            discussion: """
                Its private zones, credentials, devices, addresses, roles, subscriptions and keys go. Its shares end for their \
                participants. It takes part in others' shares no more, and its invitations and requests for access go. The \
                files of its assets go with the next collection of a server. Records that it made in public databases stay, \
                because others use them, unless --public-records says otherwise; its user records there are emptied. Records \
                that it made in others' zones are theirs, and stay. --export writes an archive before, as `accounts export` \
                does: nothing is deleted unless the archive is whole. If the command is cut off, run it again, or a server \
                completes it within minutes.
                """,
            examples: "tidemark admin accounts delete alice --dry-run",
            "tidemark admin accounts delete alice --export alice.jsonl --asset-directory /var/lib/tidemark/assets",
            "tidemark admin accounts delete alice --public-records delete")
        static let role = OperatorRole.owner

        /// What becomes of the records that the account made in public databases.
        enum PublicRecords: String, ExpressibleByArgument, CaseIterable, Sendable {
            case keep, delete
        }

        @Argument(help: "The account's name.", completion: .live(.accounts)) var account: String
        @Option(help: "keep or delete the records that it made in public databases.")
        var publicRecords: PublicRecords = .keep
        @Option(help: ArgumentHelp("Write an archive of its private data to a new file before.", valueName: "file"))
        var export: String?
        @OptionGroup var assets: AssetOptions
        @OptionGroup var master: MasterKeyOption
        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        var opensKeys: Bool { master.masterKeyFile != nil }

        func validate() throws {
            if export == nil, assets.assetDirectory != nil || master.masterKeyFile != nil {
                throw ValidationError(
                    "--asset-directory and --master-key-file are for the archive: give --export FILE.")
            }
            if export == "-" || export == "" { throw ValidationError("--export takes the name of a new file.") }
        }

        func run(_ console: Console) async throws {
            let directory = try export == nil ? nil : assets.directory(on: console.screen)
            let id = try await console.account(account)
            if let export {
                try console.screen.requireLocalFiles("The archive is a file where the command runs.")
                try ArchiveFile.requireRoom(at: export)
                guard try await !console.store.isEnding(id) else {
                    throw AdminFailure(
                        .refused,
                        "The deletion of \(account) has begun, so an archive would lack what is gone. Leave --export out."
                    )
                }
            }
            let escrow = try await export == nil ? nil : master.escrow(of: console, claims: false)
            let removal = AccountRemoval(
                account: id, users: try await console.store.users(of: id), deletesPublic: publicRecords == .delete)
            guard let loss = try await removal.loss(console) else {
                throw AdminFailure(.refused, "There is no account named \(account) any more.")
            }
            let keeping = export.map { " An archive is written to \($0) before." } ?? ""
            try await console.confirm("delete the account \(account)", loss: loss + keeping, typing: account)
            if let export { try await write(to: export, assetsIn: directory, escrow, of: id, console) }
            try await removal.run(console)
            console.say("Deleted \(account).")
        }

        /// Its sessions are closed before.
        private func write(
            to path: String, assetsIn directory: String?, _ escrow: (any KeyEscrow)?, of id: AccountID,
            _ console: Console
        ) async throws {
            let export = AccountExport(account: account, id: id, directory: directory, escrow: escrow)
            let change = try await console.store.setDisabled(true, id)
            do {
                let tally = try await export.write(to: path, console)
                console.say("Wrote \(path). \(tally.text)")
            } catch {
                if change == .done { _ = try? await console.store.setDisabled(false, id) }
                throw AdminFailure(error, done: "Nothing was deleted.")
            }
        }
    }
}
