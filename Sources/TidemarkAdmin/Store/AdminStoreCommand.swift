// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import TidemarkDomain
internal import TidemarkStore

struct AdminStoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "store", abstract: "The store as a whole.", subcommands: [RenewIncarnation.self])

    struct RenewIncarnation: AdminCommand {
        static let configuration = CommandConfiguration(
            "renew-incarnation",
            abstract:
                "After a restore from a backup: make all change tokens void, so that devices fetch everything again.",
            discussion: """
                Stop all servers first. Without this, only devices that are ahead of the backup fetch everything. The others \
                miss what was undone.
                """,
            examples: "tidemark admin store renew-incarnation --yes")
        static let role = OperatorRole.owner

        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        func run(_ console: Console) async throws {
            let accounts = try await console.store.accounts()
            let deviceCount = accounts.reduce(0) { $0 + $1.deviceCount }
            try await console.confirm(
                "make all change tokens void",
                loss: "\(Amount.text(deviceCount, "device")) of \(Amount.text(accounts.count, "account")) will fetch "
                    + "everything again.")
            try await console.store.renewIncarnation()
            console.say("Renewed. Devices will fetch everything again when they connect.")
        }
    }
}
