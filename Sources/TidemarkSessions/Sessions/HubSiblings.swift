// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkDomain
internal import TidemarkScheduling
internal import TidemarkService

/// The other hubs of one process, each on its own scheduler, and who posts to other servers for all of them. There are no other
/// hubs unless ``SessionHub/unite(_:)`` was called.
final class HubSiblings: Sendable {
    private struct Sibling {
        weak var hub: SessionHub?
    }

    private struct State {
        var siblings: [Sibling] = []
        var speaker: NoticePoster
    }

    private let state: Mutex<State>

    /// - Parameter poster: of the only hub.
    init(_ poster: NoticePoster) {
        state = Mutex(State(speaker: poster))
    }

    /// - Parameters:
    ///   - hubs: the others.
    ///   - speaker: also receives the notices of all of them.
    func become(_ hubs: [SessionHub], speaker: NoticePoster) {
        state.withLock { $0 = State(siblings: hubs.map(Sibling.init), speaker: speaker) }
    }

    /// Tells other servers.
    func post(_ notices: [ZoneNotice], _ queries: [QueryNotice] = [], evaluated: [EvaluatedChanges] = []) {
        state.withLock { $0.speaker }.post(notices, queries, evaluated: evaluated)
    }

    /// Tells other servers that the query subscriptions of a database have changed.
    func postChange(ofQueriesIn database: DatabaseID) {
        state.withLock { $0.speaker }.postChange(ofQueriesIn: database)
    }

    /// Runs work at the hubs that are concerned, each on its scheduler. Whether a hub is concerned is asked here and
    /// now.
    func each(
        where isConcerned: (SessionHub) -> Bool = { _ in true }, _ work: @escaping @Sendable (SessionHub) async -> Void
    ) {
        for hub in all where isConcerned(hub) { hub.scheduler.run { await work(hub) } }
    }

    private var all: [SessionHub] { state.withLock { $0.siblings.compactMap(\.hub) } }
}
