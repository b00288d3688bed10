// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import TidemarkBytes
internal import TidemarkDomain
internal import TidemarkStore

struct AdminDevices: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "devices", abstract: "Devices that have connected.",
        subcommands: [List.self, Revoke.self, Delete.self])

    struct List: AdminCommand {
        static let configuration = CommandConfiguration(
            "list", abstract: "List an account's devices, last seen first.",
            examples: "tidemark admin devices list alice")
        static let role = OperatorRole.viewer

        @Argument(help: "The account's name.", completion: .live(.accounts)) var account: String
        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        func run(_ console: Console) async throws {
            let devices = try await console.store.devices(of: try await console.account(account))
            try await console.show(
                devices,
                as: [
                    Column("DEVICE", key: "device", isName: true) { .text(Hex.encode($0.id.bytes)) },
                    Column("NAME", key: "name") { .text($0.name) },
                    Column("FIRST SEEN", key: "firstSeen") { .date($0.firstSeenAt) },
                    Column("LAST SEEN", key: "lastSeen") { .date($0.lastSeenAt) },
                    Column("REVOKED", key: "revoked") { .optional($0.revokedAt) },
                ])
        }
    }
}
