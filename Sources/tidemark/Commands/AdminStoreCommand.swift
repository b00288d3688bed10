// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import TidemarkStore

struct AdminStoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "store", abstract: "The store as a whole.", subcommands: [RenewIncarnation.self])

    struct RenewIncarnation: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract:
                "After a restore from a backup: make all change tokens void, so that devices fetch everything again.",
            discussion: """
                Stop all servers first. Without this, only devices that are ahead of the backup fetch everything. The others \
                miss what was undone.
                """
        )

        @OptionGroup var database: DatabaseOption

        func run() throws {
            try database.withAdminStore { try await $0.renewIncarnation() }
            print("Renewed. Devices will fetch everything again when they connect.")
        }
    }
}
