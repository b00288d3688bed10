// SPDX-License-Identifier: Apache-2.0

internal import DequeModule
internal import TidemarkDomain

/// The holder of each row, and who waits for it, in order of arrival: like `SELECT … FOR UPDATE`.
struct MemoryRowLocks {
    typealias Transaction = UInt64

    enum Row: Hashable {
        case zone(ZoneID)
        case account(AccountID)
        case database(DatabaseID)
        case feed(DatabaseID)
        case asset(AssetKey)
    }

    struct Waiter {
        let transaction: Transaction
        /// True: the lock is held now. False: the wait has ended without it.
        let resume: CheckedContinuation<Bool, Never>
    }

    private var holders: [Row: Transaction] = [:]
    private var waiters: [Row: Deque<Waiter>] = [:]
    /// The rows of each transaction, in the order of locking.
    private var rows: [Transaction: [Row]] = [:]

    /// Takes the row if nobody holds it. A transaction may take a row twice.
    mutating func take(_ row: Row, for transaction: Transaction) -> Bool {
        if let holder = holders[row] { return holder == transaction }
        holders[row] = transaction
        rows[transaction, default: []].append(row)
        return true
    }

    mutating func wait(_ waiter: Waiter, for row: Row) {
        waiters[row, default: []].append(waiter)
    }

    /// Removes a waiter from the queue; nil if it does not wait there any more.
    mutating func giveUp(_ transaction: Transaction, on row: Row) -> Waiter? {
        guard let index = waiters[row]?.firstIndex(where: { $0.transaction == transaction }) else { return nil }
        return waiters[row]?.remove(at: index)
    }

    /// Ends a transaction: its rows go to those who have waited longest. Returns these, to be resumed.
    mutating func release(_ transaction: Transaction) -> [Waiter] {
        var next: [Waiter] = []
        for row in rows.removeValue(forKey: transaction) ?? [] {
            holders[row] = nil
            guard let waiter = waiters[row]?.popFirst() else { continue }
            holders[row] = waiter.transaction
            rows[waiter.transaction, default: []].append(row)
            next.append(waiter)
        }
        return next
    }

    /// Drops all locks and waits.
    ///
    /// - Returns: who waited.
    mutating func releaseAll() -> [Waiter] {
        let all = waiters.values.flatMap(\.self).sorted { $0.transaction < $1.transaction }
        (holders, waiters, rows) = ([:], [:], [:])
        return all
    }
}
