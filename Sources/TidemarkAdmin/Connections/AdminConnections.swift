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
            "list", abstract: "List the open connections of signed-in devices, over all servers.",
            discussion: """
                All servers are asked first, and write down which devices are connected now. LIVE is yes if the connection's \
                server has answered. It is no if that server is not there any more, or cannot reach the database: then the \
                connection stays in the list until its device connects again. It is empty if the server did not answer within \
                3 seconds. NOTED is the time at which the server wrote the line.
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
            let inquiry = ServerInquiry(console)
            defer { inquiry.close() }
            // For one account too, only the connections are wanted.
            var remarks = ServerRemarks(try await inquiry.ask(about: nil))
            var last: AccountDevice?
            repeat {
                let page = try await console.store.links(of: id, after: last, countMax: Self.pageMax)
                let open = page.compactMap { kept -> Open? in
                    guard let link = kept.link, link.endedAt == nil else { return nil }
                    return Open(kept: kept, link: link, standing: remarks.add(link, notedAt: kept.notedAt))
                }
                try await console.show(open, as: Self.columns)
                last = page.count == Self.pageMax ? page.last?.of : nil
            } while last != nil
            for text in remarks.texts(at: console.now) { console.say(text) }
        }

        private struct Open: Sendable {
            let kept: AdminStore.KeptLink
            let link: DeviceLink
            let standing: ServerRoll.Standing

            /// Nil: not known.
            var isLive: Bool? {
                switch standing {
                case .answered: true
                case .gone: false
                case .silent, .unknown: nil
                }
            }
        }

        private static let columns: [Column<Open>] = [
            Column("ACCOUNT", key: "account") { .text($0.kept.account) },
            Column("DEVICE", key: "device", isName: true) { .text(Hex.encode($0.kept.of.device.bytes)) },
            Column("NAME", key: "name") { .text($0.kept.deviceName) },
            Column("SERVER", key: "server") { .text($0.link.server) },
            Column("SINCE", key: "since") { .date($0.link.since) },
            Column("NOTED", key: "noted") { .date($0.kept.notedAt) },
            Column("LIVE", key: "live") { .optional($0.isLive) },
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
        @Argument(help: "The device, as `tidemark admin devices list` or xray shows it. Default: all of the account.")
        var device: DeviceArgument?
        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        func run(_ console: Console) async throws {
            let id = try await console.account(account)
            var found: DeviceID?
            if let device {
                let listed = try await device.find(of: id, named: account, console)
                guard try await console.store.standing(of: AccountDevice(account: id, device: listed)) != .missing
                else {
                    throw AdminFailure.noDevice(device, of: account)
                }
                found = listed
            }
            let what =
                found.map { "the connections of the device \(Hex.encode($0.bytes))" } ?? "all connections of \(account)"
            try console.plan("close \(what)")
            try await console.store.closeConnections(of: id, found)
            console.say("Told all servers to close \(what).")
        }
    }
}
