// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TidemarkDomain
internal import TidemarkStore

/// Query subscriptions of the public database.
struct WatchingQueries: Sendable {
    /// What they look for, of the records of ``RecordSupply``. All of their predicates differ.
    enum Kind: Sendable {
        /// Records of another type.
        case otherType
        /// No record. Each has to be asked.
        case asked
        /// No record. A value says so, and none has to be asked.
        case byValue
        /// All records.
        case fired
    }

    let kind: Kind
    let count: Int

    fileprivate func subscription(_ number: Int, in database: DatabaseID) -> Subscription {
        let predicate: QueryPredicate =
            switch kind {
            case .otherType, .asked: .compare(.field("rank"), .greater, .double(Double(1_000_000 + number)))
            case .byValue: .compare(.field("title"), .equal, .string("No note \(number)"))
            case .fired: .compare(.field("rank"), .greater, .double(Double(-1 - number)))
            }
        return Subscription(
            id: "watching-\(number)", scope: .public, kind: .query, recordType: kind == .otherType ? "Other" : "Note",
            notificationInfo: [],
            query: SubscriptionQuery(
                database: database, predicate: predicate, options: .changes, predicateBytes: []))
    }
}

extension BenchDatabase {
    /// Saves query subscriptions as new accounts do: as many of each as an account may have.
    func add(_ queries: WatchingQueries, container: String) throws {
        let perAccount = Bench.limits.subscriptionsMax
        let database = try publicDatabase(of: container)
        let users = try makeAccounts((queries.count + perAccount - 1) / perAccount, container: container).map(\.user)
        try withStorage { storage in
            for (index, user) in users.enumerated() {
                let first = index * perAccount
                let some = (first..<min(first + perAccount, queries.count)).map {
                    queries.subscription($0, in: database)
                }
                let refusals = try await storage.saveSubscriptions(some, of: user, atMost: perAccount)
                guard refusals.allSatisfy({ $0 == nil }) else { throw BenchError("A subscription was refused.") }
            }
        }
        try execute("VACUUM ANALYZE subscription", "CHECKPOINT")
    }

    private func publicDatabase(of container: String) throws -> DatabaseID {
        let key = ContainerKey(identifier: container, environment: .development)
        let now = Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1_000))
        guard let found = try withStorage({ try await $0.publicDatabase(of: key, now: now) }) else {
            throw BenchError("There is no container \(container).")
        }
        return found.database
    }
}
