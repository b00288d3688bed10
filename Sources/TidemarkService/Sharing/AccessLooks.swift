// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkDomain
internal import TidemarkFairness

/// Requests to zones of others that wait until their users' access has been looked at, without a lock.
///
/// A request of a user without access never comes to the owner's lane. There it would delay requests of others, and its time would reveal
/// that the zone exists (I-5). Access is decided later, under the zone's lock. So an outdated look does no harm.
///
/// One device's requests to a zone keep their order: those that come during a look wait for it too. A look that finds no
/// access decides only the requests that were there when it began. For later ones there is another look, because access may
/// have been given in between.
final class AccessLooks: Sendable {
    /// A request's place in the queue of writes, or its outcome.
    typealias Queued = Answer<WriteCoordinator.Outcome>

    /// A user in a zone of another user.
    struct Place: Hashable, Sendable {
        let user: UserID
        let zone: ZoneKey
    }

    private struct Waiter {
        let request: RecordsRequest
        let queue: @Sendable () -> Queued
        let queued: Answer<Queued>
    }

    /// Those that wait for one look, in the order in which they came.
    private struct Look {
        var waiters: [Waiter]
        /// How many of them were there when it began.
        var askingCount: Int
    }

    private struct State {
        /// The looks that are under way.
        var looks: [Place: Look] = [:]
        /// Users who had access a moment ago, and write without another look.
        var sights = RecentSights(trust: .seconds(10), countMax: 10_000)
    }

    private let state = Mutex(State())

    /// - Parameter queue: queues the request. It is called at once, or by ``conclude(_:_:of:now:)``.
    /// - Returns: the request's place, once it has one, and whether the caller must look and then conclude, until nobody
    ///   waits.
    func admit(
        _ request: RecordsRequest, at place: Place, now: Duration, _ queue: @escaping @Sendable () -> Queued
    ) -> (queued: Answer<Queued>, mustLook: Bool) {
        let waiter = Waiter(request: request, queue: queue, queued: Answer())
        let mustLook = state.withLock { state in
            if state.looks[place] != nil {
                state.looks[place]?.waiters.append(waiter)
                return false
            }
            // NB: queued under the lock, so that nobody who comes later comes first.
            if state.sights.isTrusted(place, now: now) {
                waiter.queued.give(queue())
                return false
            }
            state.looks[place] = Look(waiters: [waiter], askingCount: 1)
            return true
        }
        return (waiter.queued, mustLook)
    }

    /// A look is over.
    ///
    /// - Parameters:
    ///   - mayAsk: whether the user takes part, or is invited; or why that is not known.
    ///   - owner: whose request made the server look.
    /// - Returns: whether the caller must look again, for those who have come since this look began.
    func conclude(_ place: Place, _ mayAsk: Result<Bool, FailureReason>, of owner: WorkOwner, now: Duration) -> Bool {
        state.withLock { state in
            guard let look = state.looks.removeValue(forKey: place) else { return false }
            var decided = look.waiters[...]
            if case .success(false) = mayAsk {
                decided = look.waiters.prefix(look.askingCount)
                let rest = Array(look.waiters.dropFirst(look.askingCount))
                if !rest.isEmpty { state.looks[place] = Look(waiters: rest, askingCount: rest.count) }
            }
            if case .success(let mayAsk) = mayAsk { state.sights.note(mayAsk, at: place, of: owner, now: now) }
            for waiter in decided {
                switch mayAsk {
                case .success(true): waiter.queued.give(waiter.queue())
                case .success(false): waiter.queued.give(Self.decided(.success(waiter.request.outcomeWithoutAccess)))
                case .failure(let reason): waiter.queued.give(Self.decided(.failure(reason)))
                }
            }
            return state.looks[place] != nil
        }
    }

    private static func decided(_ outcome: WriteCoordinator.Outcome) -> Queued {
        let queued = Queued()
        queued.give(outcome)
        return queued
    }
}
