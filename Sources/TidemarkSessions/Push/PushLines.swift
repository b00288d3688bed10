// SPDX-License-Identifier: Apache-2.0

internal import DequeModule
internal import TidemarkDomain
internal import TidemarkFairness

/// Pushes that are being sent or wait: a line for each database, and whose turn it is. A pure value.
///
/// One commit may need a push for each of 250 subscriptions to each of thousands of sessions. So pushes are sent in
/// steps, and between two steps the loop does everything else. A line keeps its order: no push of a database overtakes
/// an earlier one to the same session.
///
/// A line is bounded, and so are the bytes of subscriptions in all lines of an account. While there is no room,
/// what else is due gathers in the ``DatabaseWatch``, where many changes become one push. If an account has no room, its
/// databases wait for it in turns.
struct PushLines {
    /// What one step does, in units of about a microsecond (``PushBatch/workPerSession``). It leaves room for a slow
    /// machine: a step must end within 5 ms.
    static let stepWork = 1_000

    /// The most batches in a line when another one is added.
    private static let batchesMax = 32

    private let bytesPerAccountMax: Int
    private var lines = FairLines<DatabaseID, PushBatch>()
    /// Of the databases of ``lines``.
    private var accounts: [DatabaseID: AccountID] = [:]
    /// How many sessions of the first batch of a line have been taken; never 0.
    private var takenCounts: [DatabaseID: Int] = [:]

    /// Bytes of an account's batches; never 0.
    private var byteCounts: [AccountID: Int] = [:]
    /// Databases without a line that wait for room of their accounts. The first is next; no list is empty.
    private var waiting: [AccountID: Deque<DatabaseID>] = [:]

    /// - Parameter bytesPerAccountMax: how many bytes an account's batches have when another one is added.
    init(bytesPerAccountMax: Int) {
        self.bytesPerAccountMax = bytesPerAccountMax
    }

    var isEmpty: Bool { lines.isEmpty }

    /// Whether batches of a database may be added. If not, try again after a batch of it was taken, or when it is the
    /// result of ``takeWaiting(of:)``.
    mutating func admits(_ database: DatabaseID, of account: AccountID) -> Bool {
        if lines.count(of: database) >= Self.batchesMax { return false }
        if hasRoom(account), waiting[account] == nil { return true }
        if lines.count(of: database) == 0, waiting[account]?.contains(database) != true {
            waiting[account, default: []].append(database)
        }
        return false
    }

    /// Removes and returns the next database that waits, if its account has room by now.
    mutating func takeWaiting(of account: AccountID) -> DatabaseID? {
        guard hasRoom(account), let database = waiting[account]?.popFirst() else { return nil }
        if waiting[account]?.isEmpty == true { waiting[account] = nil }
        return database
    }

    /// NB: who has nothing in the lines has room, so nobody waits without a batch that will be taken.
    private func hasRoom(_ account: AccountID) -> Bool {
        byteCounts[account].map { $0 < bytesPerAccountMax } ?? true
    }

    /// Adds batches behind those of the same database.
    ///
    /// - Returns: whether there were none.
    mutating func append(_ batches: [PushBatch], of database: DatabaseID, for account: AccountID) -> Bool {
        guard !batches.isEmpty else { return false }
        let isFirst = lines.count(of: database) == 0
        if isFirst { accounts[database] = account }
        for batch in batches { lines.append(batch, of: database) }
        byteCounts[account, default: 0] += batches.reduce(0) { $0 + $1.byteCount }
        return isFirst
    }

    /// The database whose turn it is. The next call returns another one, if another has pushes.
    mutating func takeTurn() -> DatabaseID? { lines.takeTurn() }

    /// Removes and returns the next sessions of a database, and what to push to them.
    ///
    /// - Parameter room: the work that is left in this step. Nil is returned if it is used up.
    mutating func take(
        of database: DatabaseID, room: inout Int
    ) -> (batch: PushBatch, sessions: ArraySlice<UInt64>, account: AccountID)? {
        guard room > 0, let batch = lines.first(of: database), let account = accounts[database] else { return nil }
        let takenCount = takenCounts[database] ?? 0
        if takenCount == 0 { room -= batch.workOnce }
        let left = batch.sessions.dropFirst(takenCount)
        let some = left.prefix(max(1, room / batch.workPerSession))
        room -= some.count * batch.workPerSession
        if some.count < left.count {
            takenCounts[database] = takenCount + some.count
        } else {
            takenCounts[database] = nil
            lines.removeFirst(of: database)
            if lines.count(of: database) == 0 { accounts[database] = nil }
            let byteCount = (byteCounts[account] ?? 0) - batch.byteCount
            byteCounts[account] = byteCount > 0 ? byteCount : nil
        }
        return (batch, some, account)
    }
}
