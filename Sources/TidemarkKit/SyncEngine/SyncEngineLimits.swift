// SPDX-License-Identifier: Apache-2.0

/// The engine's limits and delays, each with its reason.
enum SyncEngineLimits {
    /// Saves and deletes in one batch: a bigger one fails with `limitExceeded`.
    static let batchItemsMax = 250
    /// Bytes of fields in one batch made from pending changes: below the server's 2 MB for a whole request.
    static let batchBytesMax = 1_500_000

    /// The time from `init` to the first callback that nobody asked for, so that `init` has returned and the app has
    /// stored its engine by then. This is no guarantee: an engine cannot know when its caller goes on.
    static let startDelay = Duration.milliseconds(10)
    /// How long further changes are collected after a send has begun.
    static let sendInterval = Duration.milliseconds(100)
    /// The least time between the beginnings of sends while an item fails each time, for itself.
    static let failingSendInterval = Duration.seconds(2)
    /// From the last change of the state to its `stateUpdate`.
    static let stateUpdateDelay = Duration.milliseconds(100)
    /// How long a `stateUpdate` may be delayed while changes keep coming.
    static let stateUpdateDelayMax = Duration.seconds(1)
    /// The most state updates in a row before the end of an operation is reported, while their handler changes the
    /// state.
    static let lastStateUpdatesMax = 4
    /// The time between fetches without a cause, in case pushes were lost.
    static let fetchInterval = Duration.seconds(15 * 60)

    /// The first wait after a failure without retry-after. It doubles each time.
    static let backoffMin = Duration.seconds(1)
    static let backoffMax = Duration.seconds(5 * 60)
}

/// The time of an event, and random bits for its decisions. They are parameters, so that the state machine is pure.
struct SyncEngineMoment: Sendable {
    /// On the scheduler's monotonic clock.
    var now: Duration
    var randomBits: UInt64

    /// Uniform in 0 ..< 1.
    var fraction: Double { Double(randomBits >> 11) / Double(UInt64(1) << 53) }
}

/// How long to wait after consecutive failures.
struct SyncEngineBackoff: Sendable {
    private(set) var failureCount = 0

    /// from 1 s, doubling, at most 5 min. The wait is a random time between three quarters and five quarters of
    /// that, so that many devices do not come back together.
    mutating func nextDelay(at moment: SyncEngineMoment) -> Duration {
        let doublings = min(failureCount, 16)
        failureCount += 1
        let delay = min(SyncEngineLimits.backoffMin * (1 << doublings), SyncEngineLimits.backoffMax)
        return min(delay * (0.75 + moment.fraction / 2), SyncEngineLimits.backoffMax)
    }

    /// The time that the server asked for and at most a tenth more; otherwise the next step.
    mutating func nextDelay(after error: CKError, at moment: SyncEngineMoment) -> Duration {
        guard let seconds = error.retryAfterSeconds, seconds.isFinite, seconds > 0 else { return nextDelay(at: moment) }
        failureCount += 1
        // No server means more than a day. The bound also keeps the arithmetic in range.
        return .seconds(min(seconds, 86_400)) * (1 + moment.fraction / 10)
    }

    mutating func reset() {
        failureCount = 0
    }
}

extension CKError {
    /// Whether the engine tries again by itself what failed (R-373, table in section 13). The error is not about the item,
    /// and the next attempt may succeed.
    var isRetriedBySyncEngine: Bool { isAboutNoItem || code == .zoneBusy || code == .serverResponseLost }

    /// Whether a change that failed stays pending. A fault of the server, or of the device, is not the item's fault. Nor is it
    /// that its zone's key was changed while it was on its way.
    var keepsChangePending: Bool { isRetriedBySyncEngine || code == .internalError || isPassing || isZoneKeyUnknown }

    /// Whether a change that failed may have been carried out all the same. Its answer was lost, or nobody waited
    /// for it any more, or the server has lost its store during the commit.
    var leavesOutcomeOpen: Bool {
        if isOfMissingKeys { return false }
        return code == .serverResponseLost || code == .operationCancelled || code == .serviceUnavailable
    }

    /// Whether the error concerns the account rather than the request.
    var concernsAccount: Bool {
        code == .notAuthenticated || code == .accountTemporarilyUnavailable
    }

    /// The error of one item, if this is the error of the whole request.
    func error(forItem id: some Hashable) -> CKError {
        guard code == .partialFailure else { return self }
        return partialErrorsByItemID?[AnyHashable(id)] as? CKError ?? CKError(.serverResponseLost)
    }

    /// `partialFailure` for these items; the item's own error if `unwrapsSingle` and there is only one.
    static func combining(_ errors: [(id: AnyHashable, error: CKError)], unwrapsSingle: Bool) -> CKError? {
        guard let first = errors.first else { return nil }
        if unwrapsSingle && errors.count == 1 { return first.error }
        var partial: [AnyHashable: any Error] = [:]
        for (id, error) in errors { partial[id] = error }
        return CKError(partialErrors: partial)
    }
}
