// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The presences that an app uses. One zone has one at a time, because the server knows one state of a connection.
final class PresenceRegistry: Sendable {
    struct Key: Hashable {
        let scope: CKDatabase.Scope
        let zoneName: String
        let ownerName: String
        let share: String
    }

    private struct Weak {
        weak var presence: TidemarkPresence?
    }

    private let presences = Mutex<[Key: Weak]>([:])

    /// Whether somebody uses the presence of that zone now.
    func isInUse(_ key: Key) -> Bool { presences.withLock { $0[key]?.presence }?.isUsed ?? false }

    /// The one in use, or a new one. One that has ended is not used again.
    func presence(_ key: Key, _ make: () -> TidemarkPresence) -> TidemarkPresence {
        presences.withLock { presences in
            if let known = presences[key]?.presence, !known.isEnded { return known }
            let new = make()
            presences = presences.filter { $0.value.presence != nil }
            presences[key] = Weak(presence: new)
            return new
        }
    }
}
