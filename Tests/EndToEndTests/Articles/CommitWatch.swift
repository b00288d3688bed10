// SPDX-License-Identifier: Apache-2.0

import Synchronization
import TidemarkDomain
import TidemarkTestKit

/// What a ``TestCloud`` has stored, and a deed for the moment at which it stores a record: the request is carried out, and its
/// answer not yet under way.
final class CommitWatch: Sendable {
    private struct State {
        var stored: Set<String> = []
        var awaited: (key: String, act: @Sendable () -> Void)?
    }

    private let state = Mutex(State())

    /// - Parameter key: says which record it is, or nil for one that does not count.
    init(_ cloud: TestCloud, by key: @escaping @Sendable (RecordState) -> String?) {
        cloud.observe { [self] commit in
            guard case .records(let changes) = commit else { return }
            note(Set(changes.records.filter { !$0.isDeleted }.compactMap(key)))
        }
    }

    /// The keys of all records that were ever stored.
    var stored: Set<String> { state.withLock { $0.stored } }

    /// - Parameter act: called once, within the commit: it must not wait, nor ask the server for anything.
    func whenStored(_ key: String, _ act: @escaping @Sendable () -> Void) {
        state.withLock { $0.awaited = (key, act) }
    }

    /// - Returns: whether the deed was still to be done.
    @discardableResult
    func forgetDeed() -> Bool {
        state.withLock { state in
            defer { state.awaited = nil }
            return state.awaited != nil
        }
    }

    private func note(_ keys: Set<String>) {
        let act: (@Sendable () -> Void)? = state.withLock { state in
            state.stored.formUnion(keys)
            guard let awaited = state.awaited, keys.contains(awaited.key) else { return nil }
            state.awaited = nil
            return awaited.act
        }
        act?()
    }
}
