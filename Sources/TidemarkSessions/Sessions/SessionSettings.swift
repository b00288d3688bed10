// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
package import TidemarkFairness
package import TidemarkService
package import TidemarkTelemetry

/// What sessions allow, and how long they wait.
package struct SessionSettings: Sendable {
    /// The name that clients are told: "tidemark/0.1.0".
    package var serverName: String
    /// Whether a container that a client names is created on its first use (development only; R-014).
    package var createsContainers = false
    package var limits: Limits
    /// Bytes of one message. Clients are told it, and the transport refuses longer messages.
    package var messageBytesMax = 4_194_304
    /// Bytes of `Hello`, and of each message of a session without a credential: an unknown client must not occupy more of
    /// the server's memory (I-7, R-720). A credential of some kilobytes fits.
    package var helloBytesMax = 65_536
    /// Bytes of one message of a session.
    func messageBytesMax(isAnonymous: Bool) -> Int { isAnonymous ? helloBytesMax : messageBytesMax }
    /// When a client that found no place may try again.
    package var noPlaceRetrySeconds = 30.0
    /// Whether a session needs a credential. Otherwise those without one read the public database.
    package var requiresCredential = false
    /// Whether a lookup of an address tells that it has an account. Otherwise each is answered as one without.
    package var tellsAccounts = true

    /// Random bits of this server, from which each session has its own. They name requests. With 0 the names repeat
    /// from run to run: for tests and simulations.
    package var requestSeed: UInt64 = 0
    /// How long a request may take from its arrival to its answer. A slower one is told in the log. Nil: none is.
    package var slowRequestTime: Duration?
    /// Traces some requests. Nil: none.
    package var traces: (any RequestTracing)?

    /// Computes the hash under which a credential is stored (SHA-256). A parameter, so that sessions need no
    /// cryptography.
    package var credentialHash: @Sendable ([UInt8]) -> [UInt8]

    /// How long it may take until a connection's `Hello` is answered. Longer: closed as too slow.
    package var helloTimeout: Duration = .seconds(10)
    /// Bytes of memory of one connection's unanswered requests, above which nothing more is read: two of the largest.
    /// Reading resumes at half.
    package var requestBytesUnderWayMax = 8_388_608
    /// The same for a connection without a credential.
    package var anonymousRequestBytesUnderWayMax = 1_048_576
    /// The memory of all requests under way. The hubs of one process share it.
    package var requestBudget = RequestBudget()
    /// How many requests accounts have sent. The hubs of one process share it.
    package var requestRates = RequestRates()
    /// How long a session without a credential may ask for nothing. Longer: closed as idle.
    package var anonymousIdleTimeout: Duration = .seconds(120)
    /// Queued bytes of one connection, above which nothing more is read or started for it.
    package var queuedBytesMax = 1_048_576
    /// How long a connection may stay above ``queuedBytesMax``. Longer: closed as too slow.
    package var slowReaderTimeout: Duration = .seconds(30)
    /// Requests with large answers (fetches and queries) that run at once for one connection. Together with
    /// `Limits.answerBytesMax` it bounds how much memory a connection can occupy.
    package var fetchesRunningMax = 4
    /// Room for the fetches that run at once for all connections of a hub, and for those of one account. One
    /// that may bring a whole page takes four times as much as one that brings a record. Others wait for their
    /// account's turn. What runs at once takes turns on the loop, step by step, with everybody else's requests.
    package var fetches = FairBounds(
        room: 32, roomPerOwner: 16, waitingMax: 4_096, waitingPerOwnerMax: 1_024, workTime: .milliseconds(20))
    /// Reads of all zones of a database that run at once, and those of one account. They are for the changes of a
    /// database, and for the mark of one whose first device connects. PostgreSQL takes up to 60 ms for one. A hub has three
    /// connections for reads, so others' reads always have one, however many accounts there are.
    package var wholeDatabases = FairBounds(
        room: 2, roomPerOwner: 1, waitingMax: 8_192, waitingPerOwnerMax: 1_024, workTime: .milliseconds(20))
    /// Requests that prepare, carry or bring assets, and that run at once. As many of one account as two
    /// connections may have under way.
    package var assets = FairBounds(
        room: 32, roomPerOwner: 16, waitingMax: 4_096, waitingPerOwnerMax: 1_024, workTime: .milliseconds(20))
    /// Requests that change zones, subscriptions and keys, and that run at once. They share the connections that
    /// write with the saves of records.
    package var changes = FairBounds(
        room: 16, roomPerOwner: 4, waitingMax: 4_096, waitingPerOwnerMax: 1_024, workTime: .milliseconds(10))
    /// Queries that are under way at once, also those that wait for a connection of the store. An account has
    /// more than may wait for the store's turns of long queries, so these never take all.
    package var queries = FairBounds(room: 128, roomPerOwner: 16, waitingMax: 1_024, waitingPerOwnerMax: 128)
    /// How long a query waits for that. Longer: `requestRateLimited`.
    package var queryPatience = Duration.seconds(6)
    /// How many credentials are looked up at once, and how many times the same one. As many wait as there may be newcomers.
    package var greetings = FairBounds(
        room: 16, roomPerOwner: 4, waitingMax: 4_096, waitingPerOwnerMax: 4_096, workTime: .milliseconds(10))
    /// How long a request waits for its turn. Longer: `requestRateLimited`.
    package var turnPatience = Duration.seconds(20)
    /// Chunks of assets under way on one connection, up or down, above which nothing more is read from it. Clients use
    /// fewer.
    package var assetChunksMax = 8
    /// Whether the server stores assets at all. Clients are told it.
    package var keepsAssets = false
    /// Open connections of one account. More are refused.
    package var sessionsPerAccountMax = 4_096

    /// How many refused sign-ins are written down. The hubs of one process share it.
    package var refusals = SharedRefusals()
    /// Judges tokens of identity providers. Nil: the store knows all credentials.
    package var tokens: (any TokenJudge)?
    /// How many sign-ins have failed, from where and with what. The hubs of one process share it.
    package var tries = SharedSignInTries()
    /// What this server knows of devices. The hubs of one process share it. Nil: nothing is noted.
    package var devices: DeviceBook?
    /// How much of presence there may be in one place, and at what pace.
    package var presence = PresenceBounds()
    /// How often the databases of connected devices are compared with the store, to make up for lost hints (I-4).
    package var sweepInterval: Duration = .seconds(10)
    /// How long a device may leave a push unacknowledged before it is reminded. It is checked twice in that
    /// time.
    package var pushPatience: Duration = .seconds(10)
    /// How this server tells others of changed zones, if it is not by the store.
    package var bus: (any NoticeBus)?
    /// How the store tells other servers, also who is present, which no other bus may carry. Nil: it does it by itself
    /// (``StorageNoticeBus``).
    package var storeBus: (any NoticeBus)?
    /// How long notices to other servers are gathered before they are posted together.
    package var noticeDelay: Duration = .milliseconds(2)
    /// How often the server checks whether the credentials of open connections are still valid, to make up for lost hints. A
    /// thousand of them take one statement.
    package var credentialCheckInterval: Duration = .seconds(10)
    /// How often it reads what operators chose for connected accounts, to make up for lost hints.
    package var limitsCheckInterval: Duration = .seconds(60)
    /// How old the known subscriptions of a user may be when a push depends on them.
    package var subscriptionAgeMax: Duration = .seconds(30)
    /// Bytes of an account's subscriptions that a hub remembers, in all containers: as many as four full databases
    /// have. What was read longest ago is forgotten, and read again when a push depends on it. The subscriptions in the
    /// account's waiting pushes have about as many bytes at most.
    package var subscriptionBytesPerAccountMax = 4_194_304
    /// Bytes of an account's lists of zones of others that a hub remembers, in all containers: about 26,000 zones. The
    /// list that was read longest ago is forgotten. Changes of its zones are then found by the sweep.
    package var listBytesPerAccountMax = 4_194_304

    package init(serverName: String, limits: Limits, credentialHash: @escaping @Sendable ([UInt8]) -> [UInt8]) {
        self.serverName = serverName
        self.limits = limits
        self.credentialHash = credentialHash
    }
}
