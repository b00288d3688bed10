// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import TidemarkDomain
internal import TidemarkStore

extension AdminContainers {
    struct Quota: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show or set the quotas of a container's databases.",
            discussion: """
                The records and the assets count: of a record its fields, its name, type and parent's name, and \
                \(RecordState.overheadBytes) bytes more. Deleted records count nothing. Without options the command shows \
                the quota, and the databases that hold most. Servers use a new quota from the next save on. A save that \
                would make a database larger than its quota fails with quotaExceeded. Everything else works.
                """)

        /// The most databases in the list.
        private static let rowsMax = 20

        @Argument(help: "The container's identifier.") var identifier: String
        @OptionGroup var environment: EnvironmentOption
        @Option(
            help: ArgumentHelp(
                "The quota of each private database.", discussion: "In megabytes, or none.", valueName: "megabytes"))
        var privateMegabytes: Megabytes?
        @Option(
            help: ArgumentHelp(
                "The quota of the public database.", discussion: "In megabytes, or none.", valueName: "megabytes"))
        var publicMegabytes: Megabytes?
        @OptionGroup var database: DatabaseOption

        func run() throws {
            let key = try environment.key(identifier)
            guard var quota = try database.withAdminStore({ try await $0.quota(of: key) }) else {
                throw AdminContainers.missing(key)
            }
            if let privateMegabytes { quota.privateBytes = privateMegabytes.byteCount }
            if let publicMegabytes { quota.publicBytes = publicMegabytes.byteCount }
            let isChanged = privateMegabytes != nil || publicMegabytes != nil
            if isChanged, try !database.withAdminStore({ [quota] in try await $0.setQuota(quota, of: key) }) {
                throw AdminContainers.missing(key)
            }
            print(
                "\(identifier), \(key.environment.name): each private database \(Megabytes.text(quota.privateBytes)), "
                    + "the public database \(Megabytes.text(quota.publicBytes)).")
            if !isChanged { try show(quota, key) }
        }

        private func show(_ quota: StorageQuota, _ key: ContainerKey) throws {
            let databases = try database.withAdminStore {
                try await $0.largestDatabases(of: key, countMax: Self.rowsMax)
            }
            Table.print(
                ["DATABASE", "ACCOUNT", "RECORD BYTES", "ASSET BYTES", "OF QUOTA"],
                databases.map { database in
                    let isPublic = database.account == nil
                    let use = (isPublic ? quota.publicBytes : quota.privateBytes).map {
                        StorageUse(byteCount: database.recordBytes + database.assetBytes, bytesMax: $0)
                    }
                    return [
                        isPublic ? "public" : "private", database.account ?? "", "\(database.recordBytes)",
                        "\(database.assetBytes)", use.map { "\($0.percentage)%" } ?? "",
                    ]
                })
        }
    }

}

extension AdminAccounts {
    struct Quota: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show or set what an account's private databases may hold together, in all containers.",
            discussion: """
                Quotas of containers hold as well (tidemark admin containers quota). In force from the next save on, as those \
                are.
                """)

        @Argument(help: "The account's name. Without it: every account that has no quota of its own.") var name: String?
        @Option(help: ArgumentHelp("The quota.", discussion: "In megabytes, or none.", valueName: "megabytes"))
        var megabytes: Megabytes?
        @OptionGroup var database: DatabaseOption

        func run() throws {
            let (name, megabytes) = (name, megabytes)
            let (own, common, use) = try database.withAdminStore { store in
                var account: AccountID?
                if let name { account = try await AccountName.find(name, in: store) }
                if let megabytes { try await store.setQuota(megabytes.byteCount, ofAccount: account) }
                var own: Int64?
                var use: StorageUse?
                if let account {
                    own = try await store.quota(ofAccount: account)
                    use = try await store.use(ofAccount: account)
                }
                return (own, try await store.quota(ofAccount: nil), use)
            }
            guard let name else { return print("Each account without a quota of its own: \(Megabytes.text(common)).") }
            let source = own == nil && common != nil ? ", as all accounts" : ""
            let held = use.map { " Its private databases hold \($0.byteCount) of \($0.bytesMax) bytes." } ?? ""
            print("\(name): \(Megabytes.text(own ?? common))\(source).\(held)")
        }
    }
}

/// A quota in the form that an operator types.
struct Megabytes: ExpressibleByArgument {
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

    static func text(_ byteCount: Int64?) -> String {
        byteCount.map { "\($0 / size) MB" } ?? "without a quota"
    }
}

extension StorageUse {
    /// Rounded up, so that only an empty database has 0%.
    fileprivate var percentage: Int64 {
        guard bytesMax > 0 else { return byteCount > 0 ? 100 : 0 }
        return Int64((Double(byteCount) / Double(bytesMax) * 100).rounded(.up))
    }
}
