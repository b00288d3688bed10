// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import TidemarkBytes
internal import TidemarkDomain
internal import TidemarkStore

struct AdminConnections: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "connections", abstract: "Connections of devices, over all servers.",
        subcommands: [List.self, Close.self])

    struct List: AdminCommand {
        static let configuration = CommandConfiguration(
            "list", abstract: "List the open connections of signed-in devices, as servers last noted them.",
            discussion: """
                Servers note what has changed at most once a minute, so a connection may have begun or ended since. Of a server \
                that died, connections stay in the list until their devices connect again. NOTED says how old a line is.
                """,
            examples: "tidemark admin connections list", "tidemark admin connections list alice -o json")
        static let role = OperatorRole.viewer

        @Argument(help: "The account's name. Default: all accounts.", completion: .live(.accounts)) var account: String?
        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        /// Rows of one page.
        private static let pageMax = 500

        func run(_ console: Console) async throws {
            var id: AccountID?
            if let account { id = try await console.account(account) }
            var last: AccountDevice?
            repeat {
                let page = try await console.store.links(of: id, after: last, countMax: Self.pageMax)
                let open = page.compactMap { kept in
                    kept.link.flatMap { link in link.endedAt == nil ? Open(kept: kept, link: link) : nil }
                }
                try await console.show(open, as: Self.columns)
                last = page.count == Self.pageMax ? page.last?.of : nil
            } while last != nil
        }

        private struct Open: Sendable {
            let kept: AdminStore.KeptLink
            let link: DeviceLink
        }

        private static let columns: [Column<Open>] = [
            Column("ACCOUNT", key: "account") { .text($0.kept.account) },
            Column("DEVICE", key: "device", isName: true) { .text(Hex.encode($0.kept.of.device.bytes)) },
            Column("NAME", key: "name") { .text($0.kept.deviceName) },
            Column("SERVER", key: "server") { .text($0.link.server) },
            Column("SINCE", key: "since") { .date($0.link.since) },
            Column("NOTED", key: "noted") { .date($0.kept.notedAt) },
            Column("CREDENTIAL", key: "credential", wide: true) { .number(Int($0.link.credential.rawValue)) },
        ]
    }

    struct Close: AdminCommand {
        static let configuration = CommandConfiguration(
            "close", abstract: "Close the connections of an account, or of one device, on all servers.",
            discussion: """
                The devices connect again, and send again what was not answered. To keep one out, see: tidemark admin devices \
                revoke, credentials revoke, accounts disable.
                """,
            examples: "tidemark admin connections close alice",
            "tidemark admin connections close alice 5d1f4e8a9b3c4d2e8f7a6b5c4d3e2f1a")
        static let role = OperatorRole.editor

        @Argument(help: "The account's name.", completion: .live(.accounts)) var account: String
        @Argument(help: "The device, as `tidemark admin devices list` shows it. Default: all of the account.")
        var device: DeviceArgument?
        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        func run(_ console: Console) async throws {
            let id = try await console.account(account)
            let what = device.map { "the connections of the device \($0)" } ?? "all connections of \(account)"
            try console.plan("close \(what)")
            try await console.store.closeConnections(of: id, device?.id)
            console.say("Told all servers to close \(what).")
        }
    }
}
