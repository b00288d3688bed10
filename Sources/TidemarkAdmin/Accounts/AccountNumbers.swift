// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkStore

/// An account in numbers: what a deletion would take away.
struct AccountNumbers: Sendable {
    let contents: AccountContents
    let users: [AccountUser]
    /// Living records.
    let recordCount: CountedNumber

    /// Nil if there is no such account.
    init?(of account: AccountID, _ store: AdminStore) async throws {
        guard let contents = try await store.contents(of: account) else { return nil }
        self.contents = contents
        users = try await store.users(of: account)
        recordCount = try await store.recordCount(in: users.map(\.privateDatabase))
    }

    /// Of the only row that shows the account.
    func columns<Row: Sendable>() -> [Column<Row>] {
        [
            Column("ZONES", key: "zones") { _ in .number(contents.zoneCount) },
            Column("RECORDS", key: "records") { _ in .optional(recordCount.exactly) },
            Column("SHARES", key: "shares") { _ in .number(contents.shareCount) },
            Column("RECORD BYTES", key: "recordBytes", wide: true) { _ in .number(Int(contents.recordBytes)) },
            Column("ASSET BYTES", key: "assetBytes", wide: true) { _ in .number(Int(contents.assetBytes)) },
            Column("SHARED ZONES", key: "sharedZones", wide: true) { _ in .number(contents.sharedZoneCount) },
            Column("SUBSCRIPTIONS", key: "subscriptions", wide: true) { _ in .number(contents.subscriptionCount) },
            Column("CONTAINERS", key: "containers", wide: true) { _ in .list(users.map(Self.value)) },
        ]
    }

    private static func value(of user: AccountUser) -> OutputValue {
        .object([
            ("container", .text(user.container.identifier)), ("environment", .text(user.container.environment.name)),
            ("user", .text(user.recordName)),
        ])
    }
}
