// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import TidemarkBytes
internal import TidemarkDomain
internal import TidemarkStore

struct AdminDevices: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "devices", abstract: "Devices that have connected.", subcommands: [List.self])

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List an account's devices, last seen first.")

        @Argument(help: "The account's name.") var name: String
        @OptionGroup var database: DatabaseOption

        func run() throws {
            let name = name
            let devices = try database.withAdminStore { store in
                try await store.devices(of: try await AccountName.find(name, in: store))
            }
            Table.print(
                ["DEVICE", "NAME", "FIRST SEEN", "LAST SEEN"],
                devices.map {
                    [Hex.encode($0.id.bytes), $0.name, Table.date($0.firstSeenAt), Table.date($0.lastSeenAt)]
                })
        }
    }
}
