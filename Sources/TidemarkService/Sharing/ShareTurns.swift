// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkDomain
internal import TidemarkFairness
internal import TidemarkScheduling

/// Serializes the changes of one zone's shares that are not saves, within a process.
///
/// They have transactions beside the queue of writes. Each holds a connection while it waits for the zone's lock. Without
/// turns, everybody who accepts a share that many people have the link of would hold one.
///
/// A waiter holds neither a connection nor a place at a gate. Owners of waiters take turns. Their number and
/// their time are bounded. A waiter that has left is passed over when its turn comes.
final class ShareTurns: Sendable {
    private struct Turns {
        let gate: FairGate
        /// How many have a turn in the zone, or wait for one.
        var runCount = 0
    }

    private static let bounds = FairBounds(
        room: 1, roomPerOwner: 1, waitingMax: 4_096, waitingPerOwnerMax: 1_024, workTime: .milliseconds(10))

    /// How long a change waits for its owner's turn.
    private let patience: Duration
    /// The zones that are being changed.
    private let turns = Mutex<[ZoneKey: Turns]>([:])

    init(patience: Duration) {
        self.patience = patience
    }

    /// - Parameter scheduler: of the caller.
    /// - Returns: `tooManyRequests` if the turn does not come. `storeUnavailable` if the asker has left in between.
    func run<Value>(
        in zone: ZoneKey, for owner: WorkOwner, askedBy asker: Asker, by scheduler: any Scheduler,
        _ work: () async -> Result<Value, FailureReason>
    ) async -> Result<Value, FailureReason> {
        let gate = enter(zone, scheduler)
        defer { leave(zone) }
        do {
            return try await gate.run(for: owner) { asker.hasLeft ? .failure(.storeUnavailable) : await work() }
        } catch {
            return .failure(error.code.reason)
        }
    }

    private func enter(_ zone: ZoneKey, _ scheduler: any Scheduler) -> FairGate {
        turns.withLock { turns in
            var found = turns[zone] ?? Turns(gate: FairGate(Self.bounds, patience: patience, scheduler: scheduler))
            found.runCount += 1
            turns[zone] = found
            return found.gate
        }
    }

    private func leave(_ zone: ZoneKey) {
        turns.withLock { turns in
            guard var left = turns[zone] else { return }
            left.runCount -= 1
            turns[zone] = left.runCount > 0 ? left : nil
        }
    }
}
