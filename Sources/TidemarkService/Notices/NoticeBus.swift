// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain

/// How servers that share a store tell each other what happened.
///
/// A bus promises little: a message arrives once at most, or several times, in any order. So no code may depend on it (I-4). A loss costs
/// only time, until the sweep of the other servers.
package protocol NoticeBus: Sendable {
    /// How often one server may publish now, and how much at once.
    var pace: PostingPace { get }

    /// Whether a server receives its own messages.
    var returnsOwn: Bool { get }

    /// Tells all servers that follow the topics of these notices. Nothing is tried again. From any thread.
    ///
    /// - Returns: false if no server gets them. The failure has been logged.
    func publish(_ notices: [ServerNotice]) async -> Bool

    /// From now on this server needs the notices of these topics. Each call counts: a topic is followed until it was left as
    /// often. A bus may bring notices of other topics too. From any thread.
    func follow(_ topics: [BusTopic])

    /// This server no longer needs the notices of these topics. From any thread.
    func leave(_ topics: [BusTopic])

    /// Begins to listen. Only the first call counts.
    ///
    /// - Parameters:
    ///   - onNotices: called for what others publish, and perhaps for what this server publishes.
    ///   - onGap: called when the bus is listened to from now on, at first and after each gap. Everything until then may have
    ///     been lost, so look at the store.
    func start(
        onNotices: @escaping @Sendable ([ServerNotice]) -> Void, onGap: @escaping @Sendable () -> Void
    ) throws(StorageError)

    /// Ends listening. Neither closure is called afterwards, except by work that runs right now.
    func stop()
}

/// The subject of a notice. A server follows the topics that its devices need, and a bus may leave out others.
package enum BusTopic: Sendable, Hashable {
    /// Zones of one database.
    case database(DatabaseID)
    /// Notices that each server needs: credentials, connections, limits, questions of operators. Presence too: it has content, which must
    /// be from a server.
    case everyone
}
