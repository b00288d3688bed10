// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkPostgres
internal import TidemarkScheduling
package import TidemarkService
internal import TidemarkSockets

/// The bus of servers that have nothing but their database: LISTEN and NOTIFY. Each server hears everything.
///
/// A post wakes every server, so the more there are, the less often each posts (``PostingPace``).
package final class PostgresNoticeBus: NoticeBus {
    private struct State {
        var pace = PostingPace.quickest
        var listener: NoticeListener?
        var timer: ScheduledTimer?
        var isStarted = false
        var isStopped = false
    }

    private let storage: PostgresStorage
    private let server: String
    private let countInterval: Duration
    private let state = Mutex(State())

    /// - Parameters:
    ///   - server: as operators know it; empty: one that notes no devices.
    ///   - countInterval: how often the servers are counted.
    package init(_ storage: PostgresStorage, server: String, countInterval: Duration = .seconds(60)) {
        self.storage = storage
        self.server = server
        self.countInterval = countInterval
    }

    package var pace: PostingPace { state.withLock { $0.pace } }
    package var returnsOwn: Bool { true }

    package func publish(_ notices: [ServerNotice]) async -> Bool {
        do {
            try await storage.post(notices)
            return true
        } catch {
            error.note(request: nil)
            return false
        }
    }

    /// PostgreSQL sends each notice to all anyway. Whoever hears one that concerns nobody drops it.
    package func follow(_ topics: [BusTopic]) {}
    package func leave(_ topics: [BusTopic]) {}

    package func start(
        onNotices: @escaping @Sendable ([ServerNotice]) -> Void, onGap: @escaping @Sendable () -> Void
    ) throws(StorageError) {
        let isFirst = state.withLock { state in
            defer { state.isStarted = true }
            return !state.isStarted && !state.isStopped
        }
        guard isFirst else { return }
        let listener = try NoticeListener(
            url: storage.url, loop: storage.loop, server: server, onNotices: onNotices,
            onListening: { [weak self] in
                // This server is one of them.
                self?.countServers()
                onGap()
            })
        let isStopped = state.withLock { state in
            state.listener = listener
            return state.isStopped
        }
        if isStopped { listener.stop() }
    }

    package func stop() {
        let (listener, timer) = state.withLock { state in
            state.isStopped = true
            return (state.listener, state.timer)
        }
        timer?.cancel()
        listener?.stop()
    }

    /// Counts the servers now and at each interval. If they cannot be counted, the pace stays as it is.
    private func countServers() {
        let isStopped = state.withLock { state in
            state.timer?.cancel()
            state.timer = nil
            return state.isStopped
        }
        guard !isStopped else { return }
        storage.loop.run { [weak self, storage] in
            let count = try? await storage.read(sql.notices.listenerCount()).first
            self?.counted(count)
        }
    }

    private func counted(_ count: Int?) {
        state.withLock { state in
            if let count { state.pace = PostingPace(listeners: count) }
            guard !state.isStopped else { return }
            // Two counts may have run at once.
            state.timer?.cancel()
            state.timer = storage.loop.schedule(after: countInterval) { [weak self] in self?.countServers() }
        }
    }
}
