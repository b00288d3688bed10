// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
package import TidemarkDomain

/// Keeps the order of one connection's requests while some of them look up owners of zones, or are read in steps.
///
/// A device's requests to a zone are queued in the order in which they came. While one of them looks up an owner, later ones
/// wait behind it, even if they have nothing to look up.
package final class OwnersOrder: Sendable {
    /// The outcome of the last request in line. Nil: no request looks up owners.
    private let last = Mutex<Answer<FailureReason?>?>(nil)

    package init() {}

    /// Whether a request is looked up or read, so that later ones wait for it.
    package var isBusy: Bool { last.withLock { $0 != nil } }

    /// - Parameter mayPass: whether the request has nothing to look up, and is short. Then it waits only for others.
    package func run<Value: Sendable>(
        mayPass: Bool, _ look: () async -> Result<Value, FailureReason>
    ) async -> Result<Value, FailureReason> {
        let (before, mine) = last.withLock { last -> (Answer<FailureReason?>?, Answer<FailureReason?>?) in
            guard !mayPass || last != nil else { return (nil, nil) }
            let (before, mine) = (last, Answer<FailureReason?>())
            last = mine
            return (before, mine)
        }
        guard let mine else { return await look() }
        let found: Result<Value, FailureReason>
        // If the one before got no turn, this one does not ask for one. Otherwise the waits would add up.
        if let before, await before.value() == .tooManyRequests {
            found = .failure(.tooManyRequests)
        } else {
            found = await look()
        }
        last.withLock { last in if last === mine { last = nil } }
        // NB: the next one resumes after this returns, so what this request does then comes first.
        if case .failure(let reason) = found { mine.give(reason) } else { mine.give(nil) }
        return found
    }
}
