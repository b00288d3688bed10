// SPDX-License-Identifier: Apache-2.0

extension CKSyncEngine {
    /// The engine's pending work, its current work, and what it waits for now. Callable from any thread, also
    /// in the delegate's callbacks. CloudKit has no such property.
    public var status: TidemarkSyncStatus { driver.status }

    /// The status now, and each time it has changed.
    ///
    /// A slow reader gets the newest value and none of those in between, so values do not pile up. The sequence ends
    /// with the engine, which it does not keep alive. Each loop over it gets its own values. While nobody reads it, it
    /// costs nothing. Pass the sequence to the task that reads it, and not the engine, which that task would keep
    /// alive.
    public var statuses: TidemarkSyncStatuses { TidemarkSyncStatuses(driver: driver) }
}

/// The statuses of an engine, one after the other.
///
/// It is not an `Observable`. That would load the library Observation into each app, and the engine would have to
/// report each change even without an observer.
public struct TidemarkSyncStatuses: AsyncSequence, Sendable {
    /// A status.
    public typealias Element = TidemarkSyncStatus
    /// It never fails.
    public typealias Failure = Never

    let driver: SyncEngineDriver

    /// Begins with the status now.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(driver: driver, changes: driver.statusWatchers.watch().makeAsyncIterator())
    }

    /// Waits for one status after the other.
    public struct AsyncIterator: AsyncIteratorProtocol {
        /// A status.
        public typealias Element = TidemarkSyncStatus
        /// It never fails.
        public typealias Failure = Never

        let driver: SyncEngineDriver
        var changes: AsyncStream<Void>.Iterator
        private var last: TidemarkSyncStatus?

        init(driver: SyncEngineDriver, changes: AsyncStream<Void>.Iterator) {
            self.driver = driver
            self.changes = changes
        }

        /// The next status that differs from the last one; nil when the engine or the calling task has ended.
        public mutating func next() async -> TidemarkSyncStatus? {
            await next(isolation: nil)
        }

        /// As `next()`, without leaving the caller's actor.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> TidemarkSyncStatus? {
            // Each turn waits for a change.
            while await changes.next(isolation: actor) != nil {
                let status = driver.status
                guard status != last else { continue }
                last = status
                return status
            }
            return nil
        }
    }
}
