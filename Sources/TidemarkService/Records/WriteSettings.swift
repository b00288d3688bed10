// SPDX-License-Identifier: Apache-2.0

/// How a server groups writes, and how long it keeps trying.
package struct WriteSettings: Sendable {
    /// Write transactions of each event loop at one time: enough to keep two cores of PostgreSQL busy while some of them are
    /// decided here and others wait for the log's flush. What waits meanwhile makes the next groups larger. A loop has two
    /// connections more by default, for what else is written.
    package var transactionsMax = 6
    /// Saves and deletes of one transaction. A single request may have more: it then goes alone.
    package var groupItemsMax = 1_000
    /// Field bytes of one transaction, as ``groupItemsMax``.
    package var groupBytesMax = 4_194_304
    /// Saves and deletes of a transaction to which no further zone comes: larger ones go side by side.
    package var sharedItemsMax = 100
    /// Zones of one transaction: they wait for each other's locks.
    package var groupZonesMax = 64
    /// Whether zones of several databases may share a transaction: not where an engine spreads databases over nodes.
    package var groupSpansDatabases = true
    /// Requests that wait or are being written, of all devices together (I-7). More: `tooManyRequests`.
    package var requestsMax = 20_000
    /// Field bytes of the same (I-7).
    package var bytesMax = 134_217_728
    /// How much memory what is known of zones may take, so that saves in them need one round trip (``KnownZones``).
    package var knownBytesMax = 134_217_728
    /// How long a request may wait for its transaction to begin. Longer: `zoneBusy`, or what last went wrong.
    package var waitMax: Duration = .seconds(10)
    /// Attempts of one request when the store fails in a way that passes.
    package var attemptsMax = 6
    /// The first wait before another attempt; doubles each time.
    package var backoffShortest: Duration = .milliseconds(20)
    package var backoffLongest: Duration = .seconds(1)

    package init() {}

    var retry: RetryPolicy {
        RetryPolicy(attemptsMax: attemptsMax, backoff: Backoff(shortest: backoffShortest, longest: backoffLongest))
    }
}
