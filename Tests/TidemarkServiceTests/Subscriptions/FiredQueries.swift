// SPDX-License-Identifier: Apache-2.0

import Synchronization
import TidemarkDomain
import TidemarkService

/// The query subscriptions that a server has fired, each as "subscription record reason". A hint that records may have changed
/// is "subscription ? ?".
final class FiredQueries: Sendable {
    private let texts = Mutex<[String]>([])
    private let parts = Mutex<[ChangeRanges.Part]>([])

    /// The changes of which it was said that they have fired all that they fire.
    var evaluated: [ChangeRanges.Part] { parts.withLock { $0 } }

    func take(_ moved: ZonesMoved) {
        parts.withLock { $0 += moved.evaluated.map(\.part) }
        let new = moved.fired.map { firing -> String in
            let reason = firing.reason.map { "\($0)" } ?? "?"
            return "\(firing.subscription.id) \(firing.record?.name ?? "?") \(reason)"
        }
        texts.withLock { $0 += new }
    }

    /// Removes what has been fired, and returns it in its order.
    func all() -> [String] {
        texts.withLock { texts in
            defer { texts = [] }
            return texts
        }
    }

    /// The same in the order of the texts.
    func sorted() -> [String] { all().sorted() }
}
