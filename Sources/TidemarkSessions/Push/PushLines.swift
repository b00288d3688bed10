// SPDX-License-Identifier: Apache-2.0

internal import DequeModule
internal import TidemarkDomain

/// Pushes that are being sent or wait: a line for each database, and whose turn it is. A pure value.
///
/// One commit may need a push for each of 250 subscriptions to each of thousands of sessions. So pushes are sent in
/// steps, and between two steps the loop does everything else. A line keeps its order: no push of a database overtakes
/// an earlier one to the same session.
///
/// A line is bounded. While it is full, what else is due gathers in the ``DatabaseWatch``, where many changes become one
/// push.
struct PushLines {
    /// What one step does, in units of about a microsecond (``PushBatch/workPerSession``). It leaves room for a slow
    /// machine: a step must end within 5 ms.
    static let stepWork = 1_000

    private struct Line {
        var batches: Deque<PushBatch> = []
        /// How many sessions of the first batch have been taken.
        var takenCount = 0
    }

    /// The most batches in a line when another one is added.
    private static let batchesMax = 32

    private var lines: [DatabaseID: Line] = [:]
    /// The databases of ``lines``. The first is next.
    private var turns: Deque<DatabaseID> = []

    var isEmpty: Bool { lines.isEmpty }

    func isFull(_ database: DatabaseID) -> Bool { lines[database].map { $0.batches.count >= Self.batchesMax } ?? false }

    /// Adds batches behind those of the same database.
    ///
    /// - Returns: whether there were none.
    mutating func append(_ batches: [PushBatch], of database: DatabaseID) -> Bool {
        let isFirst = lines[database] == nil
        if isFirst { turns.append(database) }
        lines[database, default: Line()].batches += batches
        return isFirst
    }

    /// The database whose turn it is. The next call returns another one, if another has pushes.
    mutating func takeTurn() -> DatabaseID? {
        guard let database = turns.popFirst() else { return nil }
        turns.append(database)
        return database
    }

    /// Removes and returns the next sessions of a database, and what to push to them.
    ///
    /// - Parameter room: the work that is left in this step. Nil is returned if it is used up.
    mutating func take(of database: DatabaseID, room: inout Int) -> (batch: PushBatch, sessions: ArraySlice<UInt64>)? {
        guard room > 0, let line = lines[database], let batch = line.batches.first else { return nil }
        if line.takenCount == 0 { room -= batch.workOnce }
        let left = batch.sessions.dropFirst(line.takenCount)
        let some = left.prefix(max(1, room / batch.workPerSession))
        room -= some.count * batch.workPerSession
        if some.count < left.count {
            lines[database]?.takenCount += some.count
        } else if line.batches.count > 1 {
            lines[database]?.takenCount = 0
            lines[database]?.batches.removeFirst()
        } else {
            lines[database] = nil
            // After its turn it is the last.
            if let index = turns.lastIndex(of: database) { turns.remove(at: index) }
        }
        return (batch, some)
    }
}
