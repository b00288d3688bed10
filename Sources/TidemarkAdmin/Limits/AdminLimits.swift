// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import TidemarkDomain
internal import TidemarkServer
internal import TidemarkStore

struct AdminLimits: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "limits", abstract: "Limits: the sizes and counts that servers accept.", subcommands: [Show.self])

    static let columns: [Column<LimitRow>] = [
        Column("LIMIT", key: "limit", isName: true) { .text($0.name) },
        Column("VALUE", key: "value") { .optional($0.value.map { Int($0) }) },
        Column("UNIT", key: "unit") { .text($0.unit) },
        Column("SET BY", key: "setBy") { .optional($0.setting) },
        Column("SOURCE", key: "source") { .text($0.source.rawValue) },
    ]

    struct Show: AdminCommand {
        static let configuration = CommandConfiguration(
            "show", abstract: "Show every limit with its value, its unit and where it is set.",
            discussion: """
                Over a server, its limits are shown as it runs with them (SOURCE: server). Over the database they are shown as \
                they are without any option of serve (SOURCE: default): the database does not know with which options its \
                servers run. What is stored is the same for all servers (SOURCE: store). With --container also those of the container, and with --account those of an account.
                """,
            examples: "tidemark admin limits show",
            "tidemark admin limits show --container iCloud.org.example.notes --account alice -o json")
        static let role = OperatorRole.viewer

        @Option(help: ArgumentHelp("Also those of this account.", valueName: "account"), completion: .live(.accounts))
        var account: String?
        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        func run(_ console: Console) async throws {
            var rows = LimitRow.of(console.serverLimits, console.serverConnections)
            let ofEach = try await console.store.requestRate(of: nil)
            let standard = Self.standardRate(console, ofEach)
            var inContainer: RateChoice?
            if let key = try? console.container() {
                if let own = try await Self.rows(of: key, standard, console) {
                    rows += own.rows
                    inContainer = own.rate
                } else if options.container != nil {
                    throw AdminFailure.noContainer(key)
                } else {
                    // A context may name a container that its first app will create.
                    console.say("There is no \(key.identifier), \(key.environment.name): its own limits are left out.")
                }
            }
            rows.append(
                LimitRow(
                    name: "accountQuota", value: try await console.store.quota(ofAccount: nil), unit: "bytes",
                    setting: "admin accounts set-quota"))
            rows += LimitRow.of(
                ofEach, of: "each account", setting: "admin accounts set-limit",
                standard: Self.standardRate(console, .standard))
            let connections = try await Self.connections(console)
            rows.append(connections.row)
            if let account {
                let own = try await console.store.quota(ofAccount: try await console.account(account))
                rows.append(
                    LimitRow(
                        name: "accountQuota of \(account)", value: own, unit: "bytes",
                        setting: "admin accounts set-quota \(account)"))
                let choice = try await console.store.requestRate(of: try await console.account(account))
                rows += LimitRow.of(choice, inContainer: inContainer, of: account, standard: standard)
                rows.append(
                    LimitRow.of(
                        connections: try await console.store.connectionsMax(of: try await console.account(account)),
                        of: account, setting: "admin accounts set-limit \(account)", standard: connections.standard))
            }
            try await console.show(rows, as: AdminLimits.columns)
            guard console.serverLimits == nil else { return }
            console.say(
                "Limits with the source default are those of a server without options. Send the command to a server "
                    + "(tidemark admin context add) to see its own.")
        }

        /// Nil if there is no such container.
        private static func rows(
            of key: ContainerKey, _ standard: (rate: RequestRate?, source: LimitRow.Source), _ console: Console
        ) async throws -> (rows: [LimitRow], rate: RateChoice)? {
            guard let quota = try await console.store.quota(of: key),
                let container = try await console.store.containers().first(where: { $0.key == key })
            else { return nil }
            let choice = try await console.store.requestRate(in: key) ?? .standard
            let rows = [
                LimitRow(
                    name: "privateQuota", value: quota.privateBytes, unit: "bytes",
                    setting: "admin containers set-quota"),
                LimitRow(
                    name: "publicQuota", value: quota.publicBytes, unit: "bytes", setting: "admin containers set-quota"),
                LimitRow(
                    name: "publicShare of each account", value: quota.publicShareBytes, unit: "bytes",
                    setting: "admin containers set-quota"),
                LimitRow(
                    name: "referencesMax of the container", value: container.referencesMax.map { Int64($0) },
                    unit: "count", setting: "admin containers set-limit"),
            ]
            let rates = LimitRow.of(
                choice, of: "each account in the container", setting: "admin containers set-limit",
                standard: standard)
            return (rows + rates, choice)
        }

        /// What holds for connections where nothing was chosen for an account.
        private static func connections(
            _ console: Console
        ) async throws -> (row: LimitRow, standard: (count: Int, source: LimitRow.Source)) {
            let server = console.serverConnections
            let ofServer = (server ?? .standard).connectionsPerAccountMax
            let row = LimitRow.of(
                connections: try await console.store.connectionsMax(of: nil), of: "each account",
                setting: "admin accounts set-limit", standard: (ofServer, server == nil ? .default : .server))
            return (row, (row.value.map { Int($0) } ?? ofServer, row.source))
        }

        /// What holds for requests where nothing was chosen for an account or a container.
        ///
        /// - Parameter ofEach: what was chosen for all others.
        private static func standardRate(
            _ console: Console, _ ofEach: RateChoice
        ) -> (rate: RequestRate?, source: LimitRow.Source) {
            guard ofEach == .standard else { return (ofEach.rate(standard: nil), .store) }
            let limits = console.serverLimits
            return ((limits ?? .standard).requestRate, limits == nil ? .default : .server)
        }
    }
}
