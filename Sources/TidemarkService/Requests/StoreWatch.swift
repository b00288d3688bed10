// SPDX-License-Identifier: Apache-2.0

internal import TidemarkScheduling
internal import TidemarkTelemetry

/// Notes of traced requests when they waited for the store. A service whose requests are never traced has none.
struct StoreWatch: Sendable {
    /// A wait that has begun.
    struct Begun {
        fileprivate let notes: RequestNotes
        fileprivate let scheduler: any Scheduler
        fileprivate let start: Duration

        func end() { notes.waitedForStore(from: start, to: scheduler.now) }
    }

    let scheduler: any Scheduler

    /// The request of this task begins to wait. Nil: it is not traced.
    func begin() -> Begun? {
        guard let notes = RequestTrace.current?.notes, notes.isTraced else { return nil }
        return Begun(notes: notes, scheduler: scheduler, start: scheduler.now)
    }
}
