// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// What the ``WriteCoordinator``s of one process share, of which each event loop has one: what waits to be written, what is
/// known of zones, and of the store's memory epoch.
///
/// So a zone is in one transaction of the process at most, whichever loops its devices are connected to, and what one loop
/// has written in it the others know.
package final class SharedWrites: Sendable {
    struct State {
        var queue: WriteQueue
        var answers: [WriteQueue.Ticket: Answer<WriteCoordinator.Outcome>] = [:]
        var hasDeadlineTimer = false
        var stopping: [Answer<Void>] = []
        var epochs = MemoryEpochWatch()
    }

    let state: Mutex<State>
    let knownZones: Mutex<KnownZones>

    package init(settings: WriteSettings = WriteSettings()) {
        state = Mutex(State(queue: WriteQueue(settings: settings)))
        knownZones = Mutex(KnownZones(bytesMax: settings.knownBytesMax))
    }

    /// The store's memory epoch was read.
    func learn(_ epoch: Int64, now: Duration) {
        state.withLock { $0.epochs.learn(epoch, now: now) }
    }
}
