// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import TidemarkDomain
internal import TidemarkStore

struct AdminDatabases: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "databases", abstract: "A container's databases, and what they hold.", subcommands: [List.self])

    struct List: AdminCommand {
        static let configuration = CommandConfiguration(
            "list", abstract: "List a container's databases, the largest first.",
            discussion: """
                The records and the assets count: of a record its fields, its name, type and parent's name, and \
                \(RecordState.overheadBytes) bytes more. Deleted records count nothing.
                """,
            examples: "tidemark admin databases list --container iCloud.com.example.notes")
        static let role = OperatorRole.viewer

        /// More rows help no operator, and cost a reading of all databases.
        private static let limitMax = 10_000

        @Option(help: ArgumentHelp("The most databases.", valueName: "count")) var limit = 20
        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        func validate() throws {
            guard (1...Self.limitMax).contains(limit) else {
                throw ValidationError("--limit must be between 1 and \(Self.limitMax), not \(limit).")
            }
        }

        func run(_ console: Console) async throws {
            let key = try console.container()
            guard let quota = try await console.store.quota(of: key) else { throw AdminFailure.noContainer(key) }
            try await console.show(
                try await console.store.largestDatabases(of: key, countMax: limit),
                as: [
                    Column("DATABASE", key: "database", isName: true) { .text(Self.name(of: $0)) },
                    Column("RECORD BYTES", key: "recordBytes") { .number(Int($0.recordBytes)) },
                    Column("ASSET BYTES", key: "assetBytes") { .number(Int($0.assetBytes)) },
                    Column("OF QUOTA %", key: "quotaPercentage") { .optional(Self.percentage(of: $0, quota)) },
                ])
        }

        /// As commands take it.
        private static func name(of database: AdminStore.DatabaseUse) -> String {
            (database.account.map { DatabaseArgument.private(account: $0) } ?? .public).name
        }

        private static func percentage(of database: AdminStore.DatabaseUse, _ quota: StorageQuota) -> Int? {
            let bytesMax = database.account == nil ? quota.publicBytes : quota.privateBytes
            return bytesMax.map {
                StorageUse(byteCount: database.recordBytes + database.assetBytes, bytesMax: $0).percentage
            }
        }
    }
}

extension AdminContainers {
    struct SetContainerQuota: AdminCommand {
        static let configuration = CommandConfiguration(
            "set-quota", abstract: "Set the quotas of a container's databases.",
            discussion: """
                Servers use a new quota from the next save on. A save that would make a database larger than its quota fails \
                with quotaExceeded. Everything else works. Quotas of accounts hold as well. In the public database one account \
                has a share, so that it cannot fill all of it: what it created there counts, with its assets. Unless another is \
                set, that is a tenth of the public quota.
                """,
            examples: "tidemark admin containers set-quota iCloud.com.example.notes --private-megabytes 500",
            "tidemark admin containers set-quota iCloud.com.example.notes --public-megabytes none",
            "tidemark admin containers set-quota iCloud.com.example.notes --public-share-megabytes 200")
        static let role = OperatorRole.editor

        @Argument(help: "The container's identifier.", completion: .live(.containers)) var identifier: String
        @Option(
            help: ArgumentHelp(
                "The quota of each private database.", discussion: "In megabytes, or none.", valueName: "megabytes"))
        var privateMegabytes: Megabytes?
        @Option(
            help: ArgumentHelp(
                "The quota of the public database.", discussion: "In megabytes, or none.", valueName: "megabytes"))
        var publicMegabytes: Megabytes?
        @Option(
            help: ArgumentHelp(
                "What each account may create in the public database.",
                discussion: "In megabytes, or none, or default: a tenth of its quota.", valueName: "megabytes"))
        var publicShareMegabytes: ShareMegabytes?
        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        func validate() throws {
            guard privateMegabytes != nil || publicMegabytes != nil || publicShareMegabytes != nil else {
                throw ValidationError(
                    "Give --private-megabytes, --public-megabytes, --public-share-megabytes or several.")
            }
        }

        func run(_ console: Console) async throws {
            let key = try console.key(identifier)
            guard var quota = try await console.store.quota(of: key) else { throw AdminFailure.noContainer(key) }
            if let privateMegabytes { quota.privateBytes = privateMegabytes.byteCount }
            if let publicMegabytes { quota.publicBytes = publicMegabytes.byteCount }
            if let publicShareMegabytes { quota.publicShare = publicShareMegabytes.share }
            let words =
                "each private database \(Megabytes.text(quota.privateBytes)), the public database "
                + Megabytes.text(quota.publicBytes) + Self.words(quota)
            try console.plan("set in \(identifier), \(key.environment.name): \(words)")
            guard try await console.store.setQuota(quota, of: key) else { throw AdminFailure.noContainer(key) }
            console.say("\(identifier), \(key.environment.name): \(words).")
        }

        /// Of each account's share, if there may be one.
        private static func words(_ quota: StorageQuota) -> String {
            guard let bytesMax = quota.publicShareBytes else {
                return quota.publicShare == .unlimited ? ", each account in it without a bound" : ""
            }
            return ", each account in it \(Megabytes.exactText(bytesMax))"
        }
    }
}

extension AdminAccounts {
    struct SetAccountQuota: AdminCommand {
        static let configuration = CommandConfiguration(
            "set-quota", abstract: "Set what an account's private databases may hold together, in all containers.",
            discussion: "Quotas of containers hold as well. In force from the next save on, as those are.",
            examples: "tidemark admin accounts set-quota alice --megabytes 1000",
            "tidemark admin accounts set-quota --megabytes 500")
        static let role = OperatorRole.editor

        @Argument(
            help: "The account's name. Without it: every account that has no quota of its own.",
            completion: .live(.accounts))
        var account: String?
        @Option(help: ArgumentHelp("The quota.", discussion: "In megabytes, or none.", valueName: "megabytes"))
        var megabytes: Megabytes
        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        func run(_ console: Console) async throws {
            let id: AccountID? = if let account { try await console.account(account) } else { nil }
            let whose = account ?? "each account without a quota of its own"
            let words = Megabytes.text(megabytes.byteCount)
            try console.plan("set the quota of \(whose): \(words)")
            try await console.store.setQuota(megabytes.byteCount, ofAccount: id)
            console.say("\(account ?? "Each account without a quota of its own"): \(words).")
        }
    }
}

/// A quota in the form that an operator types.
struct Megabytes: ExpressibleByArgument, Sendable {
    /// Nil for no quota.
    let byteCount: Int64?

    private static let size: Int64 = 1_048_576
    /// A petabyte.
    private static let countMax: Int64 = 1 << 30

    init?(argument: String) {
        if argument == "none" {
            byteCount = nil
        } else {
            guard let count = Int64(argument), (0...Self.countMax).contains(count) else { return nil }
            byteCount = count * Self.size
        }
    }

    /// A tenth of a quota is not always a whole number of megabytes.
    static func exactText(_ byteCount: Int64) -> String {
        byteCount % size == 0 ? text(byteCount) : "\(byteCount) bytes"
    }

    static func text(_ byteCount: Int64?) -> String {
        byteCount.map { "\($0 / size) MB" } ?? "without a quota"
    }
}

/// A share of the public database in the form that an operator types.
struct ShareMegabytes: ExpressibleByArgument, Sendable {
    let share: PublicShare

    init?(argument: String) {
        if argument == "default" {
            share = .standard
        } else {
            guard let megabytes = Megabytes(argument: argument) else { return nil }
            share = megabytes.byteCount.map { .bytes($0) } ?? .unlimited
        }
    }
}

extension StorageUse {
    /// Rounded up, so that only an empty database has 0%.
    fileprivate var percentage: Int {
        guard bytesMax > 0 else { return byteCount > 0 ? 100 : 0 }
        return Int((Double(byteCount) / Double(bytesMax) * 100).rounded(.up))
    }
}
