// SPDX-License-Identifier: Apache-2.0

/// The limits of a server, in one place. Clients get those of `ServerLimits` (`Accounts.proto`) when they connect.
package struct Limits: Sendable, Equatable {
    /// Saves and deletes of one modify request, and IDs of one fetch. More: `limitExceeded` for the request.
    package var itemsMax = 400
    /// Bytes of all fields in one modify request. More: `limitExceeded` for the request.
    package var requestBytesMax = 2_097_152
    /// Bytes of one record's fields. More: `limitExceeded` for that record.
    package var recordBytesMax = 1_048_576
    /// Characters of a record name, a zone name and a field key.
    package var nameCharactersMax = 255
    /// Records of one page of a change feed when the client does not ask for fewer.
    package var pageRecordsDefault = 200
    /// The most records of one page, whatever the client asks for.
    package var pageRecordsMax = 1_000
    /// Rows of records that one page of a zone's names looks at, with those of deleted records. A page has about 50
    /// KiB, at most 1 MiB. More: the page ends there, and more is coming.
    package var inventoryRowsMax = 1_000
    /// Tombstones that one read of a page of a first fetch passes over. They are read and left out, so
    /// it bounds how long such a read takes: a few milliseconds. More: the page ends there, and more is coming.
    package var tombstonesPassedMax = 5_000
    /// Zones of one page of all zones of a database. With the longest names a page has about 56 KB.
    package var pageZonesMax = 200
    /// Keys of one page of the keys of zones. A page has about 100 KB. A zone's keys are not divided, so a page has
    /// room for ``zoneKeysMax`` in any case.
    package var pageKeysMax = 1_000
    /// Bytes of the subscriptions in one page, as they are sent. Those of most users fit into one. A single
    /// subscription is always within it.
    package var pageSubscriptionBytesMax = 131_072
    /// Stored bytes after which a page, a group or an answer is cut. It bounds the server's answers as the other limits
    /// bound its requests.
    package var answerBytesMax = 4_194_304
    /// Stored bytes of the records that one modify request saves, so that what a transaction reads stays bounded.
    /// The records beyond it get `zoneBusy`, and are sent again with fewer others. If the zone's part is atomic, they get
    /// `limitExceeded`. A single record is always within it.
    package var storedBytesMax = 16_777_216
    /// Zones of one database; keeps the reader of the database feed cheap. More: `limitExceeded`.
    package var zonesMax = 10_000
    /// Zones of one account's private databases in all containers together. It bounds the cost of a save that counts for the
    /// account's quota. Not more than ``ZonesSnapshot/accountZonesCounted``. More: `limitExceeded`.
    package var accountZonesMax = ZonesSnapshot.accountZonesCounted
    /// Zones of one database that have ended, and whose end devices may still have to learn. Each read of the
    /// database's feed or mark reads their rows too. Beyond half of it, the server forgets those that ended first, and
    /// keeps a quarter. More: a new zone is `zoneBusy`, until the server has forgotten some.
    package var endedZonesMax = 20_000
    /// Bytes of tombstones that a database with a quota may have, however small the quota is. A larger quota is the
    /// bound itself. More: the server forgets some.
    package var tombstoneBytesMin: Int64 = 1_048_576
    /// Containers in development that an account may have before it creates no more by naming them. Each has
    /// databases and a schema. An operator may create any number. More: `badContainer`.
    package var containersMax = 100
    /// Devices of one account that are listed for operators. Beyond it, those that were not seen for the longest
    /// time are forgotten.
    package var devicesMax = 1_000
    /// Subscriptions of one user of a container. Each means a push for every change, and servers keep those of
    /// connected users in memory. More: `limitExceeded`.
    package var subscriptionsMax = 250
    /// Memory epochs for which the outcome of a request is remembered. A server begins a new epoch twice a day,
    /// so outcomes are kept for one and a half to two days. A repeat of an older request gets `requestForgotten`.
    package var memoryEpochsKept: Int64 = 4
    /// Bytes of outcomes that one zone or database remembers for one life of a device. Beyond it the oldest are
    /// forgotten, and a repeat of those gets `requestForgotten`.
    package var requestMemoryBytesMax = 262_144
    /// The bytes by which the memory of one account's requests may grow in one memory epoch, as far as one server has written it.
    /// More: `tooManyRequests`, until the next epoch. It leaves room for hundreds of thousands of new processes and zones. A device that
    /// continues in a zone replaces its earlier outcomes.
    package var requestMemoryBytesPerAccountMax = 268_435_456
    /// The same for the account's requests to zones of others, whose databases keep the memory. Edits that are refused are remembered as
    /// well.
    package var requestMemoryBytesPerParticipantMax = 16_777_216
    /// Unanswered requests of one device; more are answered with `requestRateLimited`.
    package var requestsInFlightMax = 256
    /// Requests that one account may send to one server in a second, unless an operator chose something else for it.
    /// Parts of assets do not count. More: `requestRateLimited` with a time. 0: any number.
    package var requestsPerSecond = 0
    /// Requests that it may send at once, after it has sent none for a while. 0: what ``RequestRate/burstSeconds`` allow.
    package var requestBurst = 0
    /// Bytes of a client's own change token. More: `requestInvalid`.
    package var clientTokenBytesMax = 4_096
    /// Clients' own change tokens that a database keeps, for all devices and zones together. It has room for
    /// ten devices in each of a thousand zones. More: the newest stay.
    package var clientTokensMax = 10_000
    /// The same for one user in the database of somebody who shares zones with them. They never take the place of others'.
    package var participantTokensMax = 100
    /// References with the action deleteSelf to one record, unless the container sets its own limit. More:
    /// `limitExceeded` for the record that would be one too many.
    package var referencesMax = 750
    /// References with the action deleteSelf in one record, each target once. More: `limitExceeded` for the record.
    package var targetsMax = 250
    /// References that the deletions of one request follow, and children that they may have beside the named
    /// records. The limit bounds the transaction. More: `limitExceeded`.
    package var cascadeReferencesMax = 50_000

    /// Bytes of a subscription's notification info; a push that carries it stays small. More:
    /// `invalidArguments`.
    package var notificationInfoBytesMax = 4_096
    /// Bytes of a query subscription's predicate, as the client sends it. A user's 250 then have at most 2 MiB of them in
    /// each of the two forms that are kept. More: `queryTooLarge`.
    package var subscriptionPredicateBytesMax = 8_192

    /// Record types and fields of one container's schema together. Servers keep the schema in memory. A save that would
    /// add more: `limitExceeded`.
    package var schemaEntriesMax = 20_000
    /// The part of those that one user may add by saves while a server runs. More: `limitExceeded`.
    package var schemaEntriesPerUserMax = 5_000
    /// The same for an account, which is a user of many containers: servers keep all their schemas in memory.
    package var schemaEntriesPerAccountMax = 20_000
    /// How deep the conditions of a query may be nested. Deeper: `invalidArguments`.
    package var predicateDepthMax = 32
    /// Conditions and constants of one query together. A list of 1,000 leaves room for others. A statement of
    /// PostgreSQL cannot have more than 1,664 columns, and each element of `ANY key IN {…}` takes one. More:
    /// `invalidArguments`.
    package var predicateNodesMax = 1_500
    /// Bytes of the strings in one query's conditions, and 8 for any other constant. More: `invalidArguments`.
    package var predicateBytesMax = 65_536
    /// Seconds that the store works on one query, once it is its turn. More: `limitExceeded`, with a time to
    /// retry. It is below the time that a request may take.
    package var querySecondsMax = 3
    /// Sort descriptors of one query. More: `invalidArguments`.
    package var sortsMax = 16
    /// Bytes of one asset. More: `limitExceeded`.
    package var assetBytesMax: Int64 = 1_073_741_824
    /// Bytes of one account's unfinished uploads to all databases, counted by their announced sizes. It keeps an
    /// account from filling the disk with assets that no record will ever name. Small ones count as a thousandth of it,
    /// so there are not too many of them. To make room for another upload, the server drops uploads that nobody
    /// has open, those idle longest first. If that is not enough: `zoneBusy`. A single upload is always accepted.
    package var uploadBytesMax: Int64 = 8_589_934_592
    /// Bytes of an asset in one message, up or down. It bounds how long a later request waits behind the message. More:
    /// `invalidArguments`.
    package var assetChunkBytesMax = 524_288

    /// Zones of one request for keys. More: `limitExceeded`.
    package var keyZonesMax = 100
    /// Keys that one incarnation of a zone can have; a device fetches all of them together. More: `limitExceeded`.
    package var zoneKeysMax = 100
    /// The number of keys of a zone up to which participants of its share may add some. The rest is for its owner, who changes the key once
    /// somebody is removed. More: `tooManySharedZoneKeys`.
    package var sharedZoneKeysMax = 50

    /// Participants of one share, with the owner, those who are only invited, and those who joined by its URL.
    /// More: `tooManyParticipants`, also for who wants to join.
    package var participantsMax = 100
    /// Participants of one share that have ended and whose rows are kept, so that their numbers can be asked for. More:
    /// the next one that is added makes those that ended first be forgotten.
    package var endedParticipantsMax = 400
    /// Shares of one zone that have ended and whose rows are kept, with their participants. More: the next share makes
    /// those that ended first be forgotten.
    package var endedSharesMax = 20
    /// The number of rows that one account may have in all its zones and containers together. They are shares, their participants,
    /// links of roots, and keys of zones beside the first one. Ended ones that are kept count too. So do the links of all roots that were
    /// ever shared in a zone, which the zone keeps as long as it lives. These rows are in no quota, and each takes some 300 bytes. More:
    /// `tooMuchShared`, also for a user who wants to join.
    package var sharingRowsMax = 100_000
    /// Whether shares of hierarchies can be made now. It is not a setting: a server that sees an older one turns it off for its
    /// decisions. Not so: `hierarchiesUnavailable`. Existing shares of hierarchies are still served.
    package var servesHierarchies = true
    /// Living shares of hierarchies in one zone. Each write there reads them. More: `tooManyHierarchies`.
    package var hierarchiesMax = 1_000
    /// Shares of one zone in which one user takes part. Each page of the user's feed of the zone looks into each of
    /// them. More: `tooManyParts` for who wants to accept another one.
    package var zonePartsMax = 100
    /// Records that come under a share, or leave it, with one request: those below the records that it moves or shares. The
    /// zone's lock is held meanwhile. More: `hierarchyTooLarge`.
    package var shareSubtreeMax = 20_000
    /// Links to one zone that no share has taken over, of the last ten minutes, of all its roots together. Each save that
    /// would make a share makes one, until the zone, or the root, has its link. More: `tooManyRequests`.
    package var untakenLinksMax = 100
    /// Zones of others in the list of one user's shared database. Each read of its feed or mark reads their
    /// rows too. More: `tooManySharedZones` for a user who wants to accept another share.
    package var sharedZonesMax = 1_000
    /// CKShare records of one page of a query, or of a zone's feed. Each comes with up to ``participantsMax`` participants, so a page of
    /// them has at most three megabytes beside its fields. In a feed each counts among the page's bytes, as an equal part of them.
    package var pageSharesMax = 40
    /// Shares that are read in one statement, and made ready for an answer in one turn of an event loop. With all
    /// their participants that takes a millisecond or two.
    package var sharesTogetherMax = 10
    /// Addresses that one account looks up in a minute. More: `requestRateLimited` with a time; in one request
    /// `limitExceeded`.
    package var addressLookupsMax = 60
    /// Requests for access to one share that wait for an answer. More: they are dropped, and the user who asks does not learn it.
    package var accessRequestsMax = 100
    /// Users whom one share has blocked. More: `limitExceeded`.
    package var blockedMax = 400
    /// Links to which one account asks for access in a minute. More: `requestRateLimited` with a time; in one request
    /// `limitExceeded`.
    package var requestedLinksMax = 20
    /// The answer to a request for access comes at a multiple of this time after the request. So the time does not tell whether something
    /// was written.
    package var accessRequestStep = Duration.milliseconds(200)
    /// Bytes of the address of an invited person. An e-mail address has at most 254. More: `invalidArguments`.
    package var addressBytesMax = 320
    /// Bytes of the given name and of the family name of an account's person. The table has the same bound. A longer
    /// one is refused.
    package var personNameBytesMax = 128

    package init() {}
}
