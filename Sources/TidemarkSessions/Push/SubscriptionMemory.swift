// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain

/// The databases whose subscriptions a hub keeps in memory. An account may be in many containers, so its bytes are
/// bounded. The subscriptions of the database that was read last always stay. The others are read again when a
/// push depends on them. A pure value.
struct SubscriptionMemory {
    private struct Kept {
        let database: DatabaseID
        let byteCount: Int
    }

    private let bytesPerAccountMax: Int
    /// In the order in which they were read, the newest last.
    private var kept: [AccountID: [Kept]] = [:]

    /// The approximate memory of a subscription beside its texts.
    private static let bytesPerSubscription = 128

    init(bytesPerAccountMax: Int) {
        self.bytesPerAccountMax = bytesPerAccountMax
    }

    /// Takes in that a database's subscriptions were read.
    ///
    /// - Returns: the databases of the account whose subscriptions are to be forgotten.
    mutating func keep(_ all: [Subscription], of database: DatabaseID, for account: AccountID) -> [DatabaseID] {
        forget(database, of: account)
        guard !all.isEmpty else { return [] }
        var own = kept[account] ?? []
        own.append(Kept(database: database, byteCount: Self.byteCount(of: all)))
        var sum = own.reduce(0) { $0 + $1.byteCount }
        let forgotten = own.dropLast().prefix { oldest in
            guard sum > bytesPerAccountMax else { return false }
            sum -= oldest.byteCount
            return true
        }
        kept[account] = Array(own.dropFirst(forgotten.count))
        return forgotten.map(\.database)
    }

    mutating func forget(_ database: DatabaseID, of account: AccountID) {
        kept[account]?.removeAll { $0.database == database }
        if kept[account]?.isEmpty == true { kept[account] = nil }
    }

    /// The approximate memory of subscriptions.
    static func byteCount(of all: [Subscription]) -> Int {
        all.reduce(0) { sum, one in
            sum + bytesPerSubscription + one.id.utf8.count + one.notificationInfo.count
                + (one.recordType?.utf8.count ?? 0) + (one.zoneName?.utf8.count ?? 0)
        }
    }
}
