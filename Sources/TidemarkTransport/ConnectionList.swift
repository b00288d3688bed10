// SPDX-License-Identifier: Apache-2.0

/// A connection that knows its position in its loop's ``ConnectionList``.
protocol ListedConnection: AnyObject {
    /// -1 outside the list.
    var index: Int { get set }
}

/// The connections of one loop, without an order. One is added or removed without a search.
struct ConnectionList<Connection: ListedConnection> {
    private(set) var all: [Connection] = []
    private var emptyWaiters: [CheckedContinuation<Void, Never>] = []

    mutating func add(_ connection: Connection) {
        connection.index = all.count
        all.append(connection)
    }

    /// - Returns: whether it was there.
    mutating func remove(_ connection: Connection) -> Bool {
        let index = connection.index
        guard index >= 0 else { return false }
        connection.index = -1
        let last = all.removeLast()
        if last !== connection {
            all[index] = last
            last.index = index
        }
        return true
    }

    /// Resumes the waiter when there are no connections.
    mutating func wait(_ waiter: CheckedContinuation<Void, Never>) {
        emptyWaiters.append(waiter)
        resumeIfEmpty()
    }

    /// Called after a connection has left, when all else that its end brings is done.
    mutating func resumeIfEmpty() {
        guard all.isEmpty else { return }
        let waiters = emptyWaiters
        emptyWaiters = []
        for waiter in waiters { waiter.resume() }
    }
}
