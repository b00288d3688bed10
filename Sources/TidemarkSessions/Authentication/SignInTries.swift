// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The ``SignInTries`` of a process: all its event loops share them.
package final class SharedSignInTries: Sendable {
    private let tries = Mutex(SignInTries())

    package init() {}

    /// As ``SignInTries/wait(_:now:)``.
    func wait(_ places: [SignInTries.Place], now: Duration) -> Duration? {
        tries.withLock { $0.wait(places, now: now) }
    }

    /// As ``SignInTries/failed(_:now:)``.
    func failed(_ places: [SignInTries.Place], now: Duration) { tries.withLock { $0.failed(places, now: now) } }
}

/// How many sign-ins may fail from an address and with a credential. No clock.
///
/// Each failure takes from a bucket that fills again with time. Whoever finds it empty must wait. A sign-in that succeeds
/// takes nothing. Failures of tries that began together may empty it further, but only so far that the wait is a minute.
struct SignInTries: Sendable {
    /// From where, or with what, somebody tries.
    enum Place: Hashable {
        /// An IPv4 address, or an IPv6 network (/64).
        case network(String)
        /// The hash of a credential, or the key of an identity.
        case credential([UInt8])

        /// Failures at once.
        var burst: Int {
            switch self {
            case .network: 120
            case .credential: 30
            }
        }

        /// In which one more is allowed. An office has one address, and devices try once in 30 to 60 seconds.
        var interval: Duration {
            switch self {
            case .network: .milliseconds(500)
            case .credential: .seconds(2)
            }
        }
    }

    /// Places that are remembered (I-7). Beyond, those whose failures count least are forgotten.
    static let placesMax = 8_192

    /// Until when the failures of a place count.
    private var paidUntil: [Place: Duration] = [:]

    var placeCount: Int { paidUntil.count }

    /// - Returns: nil if another try is allowed at all of these places; otherwise after which time it is.
    func wait(_ places: [Place], now: Duration) -> Duration? {
        places.compactMap { place -> Duration? in
            guard let paid = paidUntil[place] else { return nil }
            let wait = paid + place.interval - now - place.interval * place.burst
            return wait > .zero ? wait : nil
        }.max()
    }

    /// A sign-in has failed.
    mutating func failed(_ places: [Place], now: Duration) {
        for place in places {
            let until = max(paidUntil[place] ?? now, now) + place.interval
            // Very many that were under way at once would shut out for long whoever has the same address.
            paidUntil[place] = min(until, now + place.interval * (2 * place.burst))
        }
        guard paidUntil.count > Self.placesMax else { return }
        paidUntil = paidUntil.filter { $0.value > now }
        guard paidUntil.count > Self.placesMax else { return }
        // Half, so that it is not done again at once.
        let kept = paidUntil.sorted { $0.value > $1.value }.prefix(Self.placesMax / 2)
        paidUntil = Dictionary(uniqueKeysWithValues: kept.map { ($0.key, $0.value) })
    }
}
