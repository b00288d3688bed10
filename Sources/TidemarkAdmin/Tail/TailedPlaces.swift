// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkDomain
internal import TidemarkService
internal import TidemarkStore

/// The databases that `tail` follows, and those of them of which there is news.
final class TailedPlaces: Sendable {
    /// Which databases are followed.
    enum Choice: Sendable {
        case one(PlacedDatabase)
        /// All, or those of a container or of an account.
        case all(container: ContainerID?, account: AccountID?)
    }

    /// What was heard since the last look.
    struct News: Sendable {
        fileprivate(set) var databases: Set<DatabaseID> = []
        /// Whether news may have been missed, so that all are looked at.
        fileprivate(set) var mayBeAny = false
        /// Whether it is time to look which databases have changed without a word.
        fileprivate(set) var isSweepDue = false
    }

    private let choice: Choice
    private let store: AdminStore
    private let news = Mutex(News())

    /// The most databases that are followed at once.
    static let databasesMax = 10_000
    private static let databasesOfPage = 1_000
    /// With more databases in the news all are looked at.
    private static let newsMax = 10_000

    init(_ choice: Choice, _ store: AdminStore) {
        self.choice = choice
        self.store = store
    }

    var areMany: Bool { if case .all = choice { true } else { false } }

    /// - Returns: whether there is something to look at.
    func hear(of notices: [ServerNotice]) -> Bool {
        news.withLock { news in
            for case .zone(let notice) in notices where mayFollow(notice.database) {
                if news.databases.count < Self.newsMax {
                    news.databases.insert(notice.database)
                } else {
                    news.mayBeAny = true
                }
            }
            return news.mayBeAny || !news.databases.isEmpty
        }
    }

    private func mayFollow(_ database: DatabaseID) -> Bool {
        if case .one(let only) = choice { only.id == database } else { true }
    }

    func mayHaveMissed() { news.withLock { $0.mayBeAny = true } }

    func sweepIsDue() { news.withLock { $0.isSweepDue = true } }

    /// What is there, once.
    func takeNews() -> News {
        news.withLock { news in
            defer { news = News() }
            return news
        }
    }

    /// By age.
    ///
    /// - Throws: ``AdminFailure`` if there are too many.
    func databases() async throws -> [PlacedDatabase] {
        switch choice {
        case .one(let database): return [database]
        case .all(let container, let account):
            var databases: [PlacedDatabase] = []
            while true {
                let page = try await store.databases(
                    after: databases.last?.id ?? DatabaseID(0), in: container, of: account,
                    countMax: Self.databasesOfPage)
                databases += page
                guard page.count == Self.databasesOfPage else { return databases }
                guard databases.count < Self.databasesMax else {
                    throw AdminFailure(
                        .refused,
                        "There are more than \(Self.databasesMax) databases: choose with --container or --account.")
                }
            }
        }
    }
}
