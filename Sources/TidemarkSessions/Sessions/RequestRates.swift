// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkDomain
internal import TidemarkFairness
internal import TidemarkScheduling
internal import TidemarkTranslation
internal import TidemarkWire

/// Bounds the requests that accounts send in a second, on all connections of one process together (R-934). An account without
/// a limit, or one that sends nothing, takes no memory.
package final class RequestRates: Sendable {
    /// What is counted.
    private enum Key: Hashable {
        /// All requests of an account.
        case account(AccountID)
        /// Those of an account in one container.
        case user(UserID)
    }

    private let buckets = Mutex(TokenBuckets<Key>())

    package init() {}

    /// How many are counted now.
    var count: Int { buckets.withLock { $0.count } }

    /// Counts a request.
    ///
    /// - Parameter standard: what accounts may send for which nothing was chosen; nil: any number.
    /// - Returns: why it is refused; nil: it may be answered.
    func take(for identity: Identity, standard: RequestRate?, now: Duration) -> Refusal? {
        let ofAccount = identity.limits.rate(standard: standard)
        let ofUser = identity.limits.rateInContainer
        // The usual case takes no lock.
        guard ofAccount != nil || ofUser != nil else { return nil }
        var wants: [TokenBuckets<Key>.Want] = []
        if let ofAccount { wants.append(.init(.account(identity.account), ofAccount.bucketRate)) }
        if let ofUser { wants.append(.init(.user(identity.user), ofUser.bucketRate)) }
        guard let refusal = buckets.withLock({ $0.take(wants, now: now) }) else { return nil }
        let text =
            switch refusal.key {
            case .account: ofAccount.map { "The account may send \($0.words) to this server" }
            case .user: ofUser.map { "An account may send \($0.words) to this server in this container" }
            }
        return Refusal(
            .tooManyRequests, "\(text ?? ""). Send this one again after the delay.",
            retryAfter: Self.delay(refusal.wait))
    }

    /// Not less than a second: whoever waits for one token comes too early for the next.
    private static func delay(_ wait: Duration) -> Double { max(1, wait / .seconds(1)) }
}

extension SessionHub {
    /// Why a request is refused whose account sends too many in a second. Nil: it is not.
    func rateRefusal(of message: ClientMessage?, by identity: Identity?) -> Refusal? {
        guard let identity, message?.request?.countsInRate == true else { return nil }
        return settings.requestRates.take(for: identity, standard: settings.limits.requestRate, now: scheduler.now)
    }
}

extension RequestRate {
    fileprivate var bucketRate: TokenBucket.Rate { TokenBucket.Rate(perSecond: perSecond, burst: burst) }

    /// As a client is told it.
    fileprivate var words: String { "\(perSecond) requests a second (at once: \(burst))" }
}
