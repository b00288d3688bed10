// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkDomain
internal import TidemarkScheduling

/// The other hubs of one process, each on its own scheduler. There are none unless ``SessionHub/unite(_:)`` was called.
final class HubSiblings: Sendable {
    private struct Sibling {
        weak var hub: SessionHub?
    }

    private let siblings = Mutex<[Sibling]>([])

    func become(_ hubs: [SessionHub]) {
        siblings.withLock { $0 = hubs.map(Sibling.init) }
    }

    /// Runs work at the hubs that are concerned, each on its scheduler. Whether a hub is concerned is asked here and
    /// now.
    func each(
        where isConcerned: (SessionHub) -> Bool = { _ in true }, _ work: @escaping @Sendable (SessionHub) async -> Void
    ) {
        for hub in all where isConcerned(hub) { hub.scheduler.run { await work(hub) } }
    }

    private var all: [SessionHub] { siblings.withLock { $0.compactMap(\.hub) } }
}
