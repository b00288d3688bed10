// SPDX-License-Identifier: Apache-2.0

internal import TidemarkStore

/// Decides from looks at a database when shares of hierarchies can be made, because no older server writes there.
///
/// To a server from before migration 47 each living share is that of a whole zone, and it writes no rows of hierarchies. Such a server
/// began before the migration, because later it refuses to start. So no more of them come. One that is not connected is away for good, or
/// will be back soon: it has just started, or has lost its connection for a moment.
///
/// 1. **Two looks that see none, `quiet` apart, and none between them that saw one: it is safe.** A server that loses the connection by
///    which it is seen is back within some seconds: an attempt takes at most five, with two between attempts. If PostgreSQL does not
///    answer, the looks have no answer either and do not count. After an interruption this server looks twice again (``beginAgain()``).
/// 2. **One look that sees none is enough if nothing has happened lately** (``OlderServersSight/isSettled``). Either a program that
///    knows hierarchies made the whole database: an older one never had its tables for longer than that run took. Or the
///    migration and the start of PostgreSQL were an hour ago: nothing has just cut off all servers. A second look follows all the same, and
///    takes the permission back if it sees an older server. A server that has seen an older one needs two looks from then on.
///
/// Not covered: a server that was cut off from PostgreSQL for longer than `quiet` while this one was not, and comes back. And one
/// from before this rule that notes no devices (`--device-seconds 0`): its connection has no name.
struct OlderServersRule: Sendable, Equatable {
    /// Whether shares of hierarchies can be made now.
    private(set) var isAllowed = false
    /// Whether nothing need be looked at any more.
    private(set) var isDone = false
    /// When the first of the looks was that have seen none since.
    private var quietSince: Duration?
    private var hasSeenSome = false
    private let quiet: Duration

    init(quiet: Duration) {
        self.quiet = quiet
    }

    mutating func saw(_ sight: OlderServersSight, at now: Duration) {
        guard sight.servers.isEmpty else {
            (isAllowed, isDone, quietSince, hasSeenSome) = (false, false, nil, true)
            return
        }
        let since = quietSince ?? now
        quietSince = since
        isDone = now - since >= quiet
        isAllowed = isAllowed || isDone || sight.isSettled && !hasSeenSome
    }

    /// The connection to the database was interrupted, so others may have been. A permission stays until a look sees an older server.
    mutating func beginAgain() {
        (isDone, quietSince) = (false, nil)
    }
}
