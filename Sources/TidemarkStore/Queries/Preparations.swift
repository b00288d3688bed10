// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkDomain
internal import TidemarkService

/// The record types that this server is preparing for queries. Each is prepared by one task at a time.
final class Preparations: Sendable {
    struct Key: Hashable {
        let container: ContainerID
        let type: String
    }

    /// The result of a preparation; nil while it is under way.
    typealias Result = Swift.Result<Void, StorageError>

    private let states = Mutex<[Key: Result?]>([:])

    /// Whether the caller must do the preparation.
    func begin(_ key: Key) -> Bool {
        states.withLock { states in
            if case .some(.none) = states[key] { return false }
            states[key] = .some(.none)
            return true
        }
    }

    func end(_ key: Key, _ result: Result) {
        states.withLock { $0[key] = .some(result) }
    }

    func result(of key: Key) -> Result? {
        states.withLock { $0[key] ?? nil }
    }
}
