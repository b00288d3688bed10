// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain

/// The databases whose subscriptions a hub keeps in memory, bounded by account. Those that are forgotten are read
/// again when a push depends on them. A pure value.
struct SubscriptionMemory {
    private var memory: AccountMemory

    /// The approximate memory of a subscription beside its texts.
    private static let bytesPerSubscription = 128

    init(bytesPerAccountMax: Int) {
        memory = AccountMemory(bytesPerAccountMax: bytesPerAccountMax)
    }

    /// Takes in that a database's subscriptions were read.
    ///
    /// - Returns: the databases of the account whose subscriptions are to be forgotten.
    mutating func keep(_ all: [Subscription], of database: DatabaseID, for account: AccountID) -> [DatabaseID] {
        memory.keep(Self.byteCount(of: all), of: database, for: account)
    }

    mutating func forget(_ database: DatabaseID, of account: AccountID) { memory.forget(database, of: account) }

    /// The approximate memory of subscriptions.
    static func byteCount(of all: [Subscription]) -> Int {
        all.reduce(0) { sum, one in
            sum + bytesPerSubscription + one.id.utf8.count + one.notificationInfo.count
                + (one.recordType?.utf8.count ?? 0) + (one.zoneName?.utf8.count ?? 0)
        }
    }
}
