// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkFairness
internal import TidemarkScheduling

/// One lane of the scheduler for each owner who is connected. All connections of an account work in the same lane, so a
/// flood of requests delays its own account's.
final class OwnerLanes: Sendable {
    private struct Place: Sendable {
        weak var lane: OwnerLane?
    }

    private let scheduler: any Scheduler
    private let places = Mutex<[WorkOwner: Place]>([:])

    init(_ scheduler: any Scheduler) { self.scheduler = scheduler }

    /// How many owners are known.
    var count: Int { places.withLock { $0.count } }

    /// The lane lives as long as somebody keeps it.
    func lane(of owner: WorkOwner) -> OwnerLane {
        places.withLock { places in
            if let lane = places[owner]?.lane { return lane }
            let lane = OwnerLane(owner, of: self, scheduler.makeLane())
            places[owner] = Place(lane: lane)
            return lane
        }
    }

    /// In so many lanes is the work of those who have not shown yet who they are. In one for each credential, somebody with
    /// thousands of made-up ones would have thousands of turns. In a single one, whoever signs in at a busy server would wait for
    /// all others who do.
    static let newcomersMax = 16

    /// The lane of whoever shows this credential, until it has been looked at. Others may have the same one.
    func lane(ofNewcomerShowing credential: String) -> OwnerLane {
        // Tokens of one provider begin alike. A long one costs no more than a short one.
        var hasher = Hasher()
        for byte in credential.utf8.suffix(64) { hasher.combine(byte) }
        return lane(of: .newcomer(Int(hasher.finalize().magnitude % UInt(Self.newcomersMax))))
    }

    fileprivate func forget(_ owner: WorkOwner) {
        places.withLock { if $0[owner]?.lane == nil { $0[owner] = nil } }
    }
}

/// Where the work of one owner runs.
final class OwnerLane: Sendable {
    private let owner: WorkOwner
    private let lanes: OwnerLanes
    let executor: any TaskExecutor

    fileprivate init(_ owner: WorkOwner, of lanes: OwnerLanes, _ executor: any TaskExecutor) {
        (self.owner, self.lanes, self.executor) = (owner, lanes, executor)
    }

    deinit { lanes.forget(owner) }

    func run(_ work: @escaping @Sendable () async -> Void) -> Task<Void, Never> { executor.run(work) }
}
