// SPDX-License-Identifier: Apache-2.0

/// When the keys of an issuer are fetched, and who waits for it: no clock, no network.
///
/// Keys that were fetched once stay until others take their place, however long the issuer cannot be reached.
struct KeySetMachine: Sendable {
    enum Action: Equatable {
        /// Fetch, then tell ``KeySetMachine/fetched(freshFor:now:)`` or ``KeySetMachine/failed(now:)``.
        case fetch
        /// Call ``KeySetMachine/woke(_:now:)`` with the number.
        case wake(Int, after: Duration)
    }

    /// The decision about a token with an unknown key.
    enum Answer: Equatable {
        /// A fetch is under way, which may bring it.
        case wait
        /// The issuer was asked a moment ago.
        case unknown
        /// The issuer was asked a moment ago, and did not answer as it should.
        case unavailable
    }

    /// How long keys are used before they are fetched again, whatever the issuer says.
    static let freshMin = Duration.seconds(300)
    static let freshMax = Duration.seconds(86_400)
    /// The same, if the issuer says nothing.
    static let freshDefault = Duration.seconds(3_600)
    /// Unknown keys make a server ask once in this time: anybody can make a token that names one.
    static let askSpacing = Duration.seconds(30)
    /// After a failed fetch. It doubles with each further one, up to the next value.
    static let retryFirst = Duration.seconds(5)
    static let retryMax = Duration.seconds(300)

    private(set) var hasKeys = false
    private(set) var isFetching = false
    private var began: Duration?
    private var failures = 0
    /// The number of the last wake-up that was asked for. Earlier ones do nothing.
    private var wakeNumber = 0

    mutating func start(now: Duration) -> [Action] { fetch(now: now) }

    /// A token names a key that is not among those that are known.
    mutating func missed(now: Duration) -> (Answer, [Action]) {
        if isFetching { return (.wait, []) }
        let isLongAgo = began.map { now - $0 >= (hasKeys ? Self.askSpacing : Self.retryFirst) } ?? true
        guard isLongAgo else { return (verdict, []) }
        return (.wait, fetch(now: now))
    }

    /// The decision about a token whose key is unknown after the last fetch.
    var verdict: Answer { hasKeys && failures == 0 ? .unknown : .unavailable }

    /// - Parameter time: how long the issuer lets its keys be kept. Nil: it does not say.
    mutating func fetched(freshFor time: Duration?, now: Duration) -> [Action] {
        isFetching = false
        hasKeys = true
        failures = 0
        let fresh = min(max(time ?? Self.freshDefault, Self.freshMin), Self.freshMax)
        // Before the end, so that there is time for another attempt.
        return [wake(after: fresh * 4 / 5)]
    }

    mutating func failed(now: Duration) -> [Action] {
        isFetching = false
        let wait = min(Self.retryFirst * (1 << min(failures, 10)), Self.retryMax)
        failures += 1
        return [wake(after: wait)]
    }

    mutating func woke(_ number: Int, now: Duration) -> [Action] {
        number == wakeNumber && !isFetching ? fetch(now: now) : []
    }

    private mutating func fetch(now: Duration) -> [Action] {
        isFetching = true
        began = now
        return [.fetch]
    }

    private mutating func wake(after delay: Duration) -> Action {
        wakeNumber += 1
        return .wake(wakeNumber, after: delay)
    }
}
