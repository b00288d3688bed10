// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkDomain
internal import TidemarkScheduling
internal import TidemarkService
internal import TidemarkStore
internal import TidemarkTelemetry

/// Removes data that nobody can see any more:
///
/// - records of ended zones, because a deletion is visible at once and the work is done afterwards
/// - outcomes that are too old to be asked for
/// - devices that were not seen for a long time
/// - old rows of the audit
/// - what sessions have made in databases of accounts that were deleted
/// - what a deletion of an account has left that was cut off
///
/// Any number of servers may do so at once. Data that one has removed, the others do not find.
final class StoreJanitor: Sendable {
    private let storage: PostgresStorage
    private let scheduler: any Scheduler
    private let interval: Duration
    private let limits: Limits
    private let deviceAge: Duration?
    private let auditAge: Duration?
    private let clockWatch: Mutex<ClockWatch>
    private let isStopped = Mutex(false)
    private let roundCount = Mutex(0)
    /// Where the next step goes on in the order of all ended zones. A round that has not come to their end leaves the rest
    /// to the next one.
    private let place = Mutex(EndedZone.beginning)

    /// How long an epoch of memories lasts (`Limits.memoryEpochsKept`).
    private static let memoryEpoch = Duration.seconds(12 * 3_600)
    /// Rounds between two checks of the epoch, and between two looks for old devices and old rows of the audit.
    private static let roundsPerLook = 60
    /// How long ago an account may have been deleted to be looked at.
    private static let survivorAge = Duration.seconds(7 * 86_400)
    /// Databases of deleted accounts that one look empties.
    private static let survivorsMax = 100
    /// Accounts whose deletion one round completes.
    private static let endsMax = 100
    /// Steps of one round. Each reads and removes a bounded number of rows, and lets other work go first.
    private static let stepsMax = 1_000

    /// - Parameters:
    ///   - deviceAge: nil: no device is forgotten.
    ///   - auditAge: nil: no row of the audit is forgotten.
    init(
        storage: PostgresStorage, scheduler: any Scheduler, interval: Duration, limits: Limits, deviceAge: Duration?,
        auditAge: Duration?
    ) {
        self.storage = storage
        self.scheduler = scheduler
        self.interval = interval
        self.limits = limits
        self.deviceAge = deviceAge
        self.auditAge = auditAge
        clockWatch = Mutex(ClockWatch(wallClock: scheduler.wallClockMilliseconds, steady: scheduler.now))
    }

    /// Runs a round at every interval until ``stop()``.
    func start() {
        _ = scheduler.schedule(after: interval) { [weak self] in
            guard let self, !isStopped.withLock({ $0 }) else { return }
            scheduler.run { [self] in
                await clear()
                start()
            }
        }
    }

    func stop() {
        isStopped.withLock { $0 = true }
    }

    /// After the clock was set ahead, nothing is forgotten for that long: all devices would look old.
    private func forgetDevices() async {
        guard let deadline = deadline(deviceAge) else { return }
        do {
            _ = try await storage.forgetDevices(notSeenSince: deadline)
        } catch {
            error.note()
        }
    }

    /// The same holds for the audit.
    private func forgetAudit() async {
        guard let deadline = deadline(auditAge) else { return }
        do {
            try await storage.forgetAudit(before: deadline)
        } catch {
            error.note()
        }
    }

    /// A session outlives its account by at most a minute, but no janitor may have run for some time after that.
    private func endSurvivors() async {
        let age = Self.survivorAge.components.seconds * 1_000
        let time = Timestamp(milliseconds: scheduler.wallClockMilliseconds - age)
        do {
            try await AdminStore(storage).endSurvivors(deletedAfter: time, countMax: Self.survivorsMax)
        } catch {
            error.note()
        }
    }

    /// Completes deletions of accounts that no command or server works on. A failed one is tried again minutes later,
    /// after the others.
    private func completeAccountEnds() async {
        do {
            for _ in 0..<Self.endsMax where !isStopped.withLock({ $0 }) {
                guard try await AccountEnd.completeOne(in: storage, scheduler: scheduler, limits: limits) else {
                    return
                }
            }
        } catch let error as StorageError {
            error.note()
        } catch {
            FailureLog.shared.note(
                .error, "the deletion of an account cannot be completed", cause: "\(error)",
                ["advice": "Run the command again: it says why"])
        }
    }

    /// Data from before it is older than `age`. Nil if nothing is deleted now.
    private func deadline(_ age: Duration?) -> Timestamp? {
        let now = scheduler.wallClockMilliseconds
        guard let age, clockWatch.withLock({ $0.canTell(age: age, wallClock: now, steady: scheduler.now) }) else {
            return nil
        }
        return Timestamp(milliseconds: now - age.components.seconds * 1_000)
    }

    /// If the store cannot be reached, the next round tries again.
    private func clear() async {
        let round = roundCount.withLock { count in
            defer { count += 1 }
            return count
        }
        if round % Self.roundsPerLook == 0 {
            await advanceMemoryEpoch()
            await forgetDevices()
            await forgetAudit()
            await endSurvivors()
        }
        await completeAccountEnds()
        do {
            for _ in 0..<Self.stepsMax where !isStopped.withLock({ $0 }) {
                let next = try await storage.clearEndedZones(after: place.withLock { $0 })
                place.withLock { $0 = next ?? .beginning }
                if next == nil { return }
            }
        } catch {
            error.note()
        }
    }

    private func advanceMemoryEpoch() async {
        do {
            _ = try await storage.advanceMemoryEpoch(after: Self.memoryEpoch, keeping: limits.memoryEpochsKept)
        } catch {
            error.note()
        }
    }
}
