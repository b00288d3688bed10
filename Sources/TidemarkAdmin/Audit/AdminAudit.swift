// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import TidemarkBytes
internal import TidemarkDomain
internal import TidemarkService
internal import TidemarkStore
internal import TidemarkTelemetry

struct AdminAudit: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit", abstract: "What operators did, and who signed in.", subcommands: [List.self])

    /// The kinds of rows on a command line.
    enum Kind: String, ExpressibleByArgument, CaseIterable, Sendable {
        case actions
        case signIns = "sign-ins"

        var value: AuditEntry.Kind { self == .actions ? .action : .signIn }
    }

    struct List: AdminCommand {
        static let configuration = CommandConfiguration(
            "list", abstract: "List operators' actions and sign-ins, the newest first.",
            discussion: """
                An action that is still "begun" was cut off, or goes on. Of one device and hour there is at most one sign-in and \
                one refused one. Servers forget what is older than 90 days (tidemark serve --audit-days).

                --request finds what stands behind a change that tail shows, an error of an app or a line of the log: the \
                operator's command, or the sign-in with which the request's session began.
                """,
            examples: "tidemark admin audit list --kind actions --since 7d",
            "tidemark admin audit list --who alice --failures -o json",
            "tidemark admin audit list --request 8A010203-0405-8607-8000-000000000011")
        static let role = OperatorRole.viewer

        @Option(help: ArgumentHelp("Only actions, or only sign-ins.", valueName: "kind")) var kind: Kind?
        @Option(help: ArgumentHelp("Only of this operator or account.", valueName: "name")) var who: String?
        @Option(help: ArgumentHelp("Only of the last so many minutes, hours or days.", valueName: "30m|12h|7d"))
        var since: Lifetime?
        @Flag(help: "Only what was refused, failed or did not end.") var failures = false
        @Option(help: ArgumentHelp("Only the command or the session of this request.", valueName: "uuid"))
        var request: RequestArgument?
        @Option(help: "The most rows; 0 for all.") var limit = 100
        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        func validate() throws {
            guard limit >= 0 else { throw ValidationError("--limit must be 0 (for all) or more, not \(limit).") }
        }

        /// Rows of one page.
        private static let pageMax = 500

        func run(_ console: Console) async throws {
            var filter = AuditFilter()
            filter.kind = kind?.value
            filter.who = who
            filter.failuresOnly = failures
            filter.request = request?.cause
            if let since {
                filter.since = Timestamp(milliseconds: console.now.milliseconds - since.seconds * 1_000)
            }
            var (left, before) = (limit == 0 ? Int.max : limit, Int64?.none)
            repeat {
                let count = min(left, Self.pageMax)
                let page = try await console.store.audit(filter, before: before, countMax: count)
                try await console.show(page.entries, as: Self.columns)
                left -= page.entries.count
                before = page.next
            } while before != nil && left > 0
            if before != nil { console.say("There may be more: see --limit.") }
        }

        private static let columns: [Column<AuditEntry>] = [
            Column("TIME", key: "time") { .date($0.at) },
            Column("WHO", key: "who") { .optional($0.who.isEmpty ? nil : $0.who) },
            Column("ACTION", key: "action") { .text($0.action) },
            Column("TARGET", key: "target") { .optional($0.target.isEmpty ? nil : $0.target) },
            Column("RESULT", key: "result") { .text($0.result.name) },
            Column("DETAIL", key: "detail") { .optional($0.detail.isEmpty ? nil : $0.detail) },
            Column("DEVICE", key: "device", wide: true) { .optional($0.device.map { Hex.encode($0.bytes) }) },
            Column("ADDRESS", key: "address", wide: true) { .optional($0.address.isEmpty ? nil : $0.address) },
            Column("ID", key: "id", wide: true, isName: true) { .number(Int($0.id)) },
            Column("REQUEST", key: "request", wide: true) { .optional($0.request.map { "\(RequestUUID($0))" }) },
        ]
    }
}
