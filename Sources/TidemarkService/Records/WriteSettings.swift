// SPDX-License-Identifier: Apache-2.0

package import TidemarkFairness

/// How a server groups writes, and how long it keeps trying.
package struct WriteSettings: Sendable {
    /// Write transactions of each event loop at one time. This number keeps two cores of PostgreSQL busy while some
    /// transactions are decided here and others wait for the log's flush. Requests that wait meanwhile make the next
    /// groups larger. One more transaction is spare. By default a loop has two more connections, for that and
    /// for other writes.
    package var transactionsMax = 6
    /// Saves and deletes of one transaction. A single request may have more; it then goes alone.
    package var groupItemsMax = 1_000
    /// Field bytes of one transaction, as ``groupItemsMax``.
    package var groupBytesMax = 4_194_304
    /// Saves and deletes of a transaction that no further zone joins: larger ones run side by side.
    package var sharedItemsMax = 100
    /// Zones of one transaction. They wait for each other's locks.
    package var groupZonesMax = 64
    /// Visits of relatives, such as children and ancestors, for which a group is decided on its event loop. Each
    /// request may visit all that its group has read, at one or two microseconds each.
    package var visitsOnLoopMax = 2_500
    /// Field bytes, saved and stored, for which a group is decided on its event loop. A field has 8 bytes at least,
    /// and takes up to some 50 ns to be checked against the schema and merged.
    package var fieldBytesOnLoopMax = 524_288
    /// Field bytes for which a group is decided on its event loop, if some of its types have index marks. Index
    /// values take a tenth of a microsecond for each byte of a text in Cyrillic.
    package var indexedBytesOnLoopMax = 65_536
    /// Visits of a group of several requests. If there are more, they are written one after another.
    package var groupVisitsMax = 500_000
    /// How long a group that is written in several transactions may continue. Then the remaining requests go back to their zones,
    /// where owners that came in between have a turn.
    package var groupTurn: Duration = .milliseconds(100)
    /// Stored bytes that a transaction may read beyond as many bytes as its requests bring. The largest record
    /// has no more (`Limits.recordBytesMax`), so saving one record takes no place. A larger read takes one.
    package var storedBytesFree = 1_048_576
    /// Relatives that a transaction may read. PostgreSQL takes some milliseconds for this number. A request
    /// that reaches more takes a place, too.
    package var relativesFree = 2_500
    /// Transactions of the process that may read more: each up to `Limits.storedBytesMax` and
    /// `Limits.cascadeReferencesMax`. While they are merged and written, they take a few times as many bytes. An account
    /// has one at a time. More wait.
    package var largeReadsMax = 3
    /// Changes of shares beside the queue of writes that are under way on an event loop, such as acceptances. They may wait long
    /// for the locks of zones. They hold one of the two more connections that a loop has.
    package var shareChanges = FairBounds(
        room: 1, roomPerOwner: 1, waitingMax: 4_096, waitingPerOwnerMax: 1_024, workTime: .milliseconds(10))
    /// Whether zones of several databases may share a transaction. Off where an engine spreads databases over nodes.
    package var groupSpansDatabases = true
    /// The most requests for records that wait or are being written, for all devices together (I-7), and as many for
    /// zones. More: `tooManyRequests`. An account may have a quarter of it.
    package var requestsMax = 20_000
    /// Field bytes of those requests (I-7), shared in the same way.
    package var bytesMax = 134_217_728
    /// The approximate memory of the cache of zones, with which saves need one round trip (``KnownZones``).
    package var knownBytesMax = 100_663_296
    /// The approximate memory of what is known of query subscriptions (``QueryWatches``). One database may have half.
    package var queryIndexBytesMax = 67_108_864
    /// How long a request may wait for its transaction to begin. Longer: `zoneBusy`, or what went wrong last.
    package var waitMax: Duration = .seconds(10)
    /// Attempts of one request when the store fails temporarily.
    package var attemptsMax = 6
    /// The first wait before another attempt; doubles each time.
    package var backoffShortest: Duration = .milliseconds(20)
    package var backoffLongest: Duration = .seconds(1)

    package init() {}

    /// The stored bytes that a transaction without a place may read, if its requests bring this many bytes of
    /// fields.
    func storedBytesMax(bringing byteCount: Int) -> Int { storedBytesFree + byteCount }

    var retry: RetryPolicy {
        RetryPolicy(attemptsMax: attemptsMax, backoff: Backoff(shortest: backoffShortest, longest: backoffLongest))
    }
}
