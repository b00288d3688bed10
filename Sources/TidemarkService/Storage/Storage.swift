// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain

/// Where everything is kept: PostgreSQL (TidemarkStore), or memory (TidemarkTestKit). One conformance suite holds both
/// to the same behaviour.
///
/// The promises that correctness rests on:
/// - *Lock first, read after*: whatever a transaction's snapshot shows was read after the zone rows were locked, and
///   nobody else changes those zones until the transaction ends. Whoever decides by what is known already has it proven
///   in the same way, under the lock under which it is written (``commit(_:at:)``).
/// - *One snapshot*: each read below is one statement; the parts of its answer belong together.
/// - *Durable before told*: when `commit` or `advanceDatabaseFeed` returns, the change survives a crash (I-1).
/// - *Assets are held*: an asset that a snapshot shows is not forgotten before the transaction has ended.
/// - *Unknown is said*: when the answer to a commit is lost, the error is ``StorageError/Code/commitUnknown``, and only
///   remembered requests tell whether it took place.
///
/// Nothing here decides: rules are pure functions in TidemarkDomain.
package protocol Storage: AnyObject, Sendable {
    /// The life of the store that is going on, and its memory epoch.
    func standing() async throws(StorageError) -> StoreStanding

    /// Begins the next memory epoch and clears the memories of requests that are too old for it.
    ///
    /// - Parameters:
    ///   - age: how long the present epoch must have lasted by the store's own clock; else nothing is done. A clock that was
    ///     set can make an epoch too short or too long, which makes more or fewer memories, and does no harm.
    ///   - kept: a memory is cleared when it was written so many epochs ago, or earlier.
    /// - Returns: whether there is a new epoch.
    func advanceMemoryEpoch(after age: Duration, keeping kept: Int64) async throws(StorageError) -> Bool

    // MARK: Accounts and containers

    /// Who holds the credential with this SHA-256, in this container. Creates the container (if `createsContainer`), the
    /// user and the private database on their first use.
    ///
    /// - Returns: nil if there is no such credential, or it is revoked or expired at `now`.
    /// - Throws: ``StorageError/Code/containerUnknown`` if there is no such container and none is to be created.
    func identity(
        credentialHash: [UInt8], container: String, environment: ContainerEnvironment, createsContainer: Bool,
        now: Timestamp
    ) async throws(StorageError) -> Identity?

    /// The identifiers of the containers in which an account is a user already: what it may be told of (I-5). The newest first;
    /// none for a credential that is unknown, revoked or expired at `now`.
    func containers(
        credentialHash: [UInt8], environment: ContainerEnvironment, countMax: Int, now: Timestamp
    ) async throws(StorageError) -> [String]

    /// The public database of a container; it and its default zone are made on their first use.
    ///
    /// - Returns: nil if there is no such container.
    func publicDatabase(of container: ContainerKey, now: Timestamp) async throws(StorageError) -> PublicDatabase?

    /// The record names of users, of those that there are.
    func userRecordNames(of users: [UserID]) async throws(StorageError) -> [UserID: String]

    /// The users of a container who have these record names, of those that there are.
    func users(named names: [String], in container: ContainerKey) async throws(StorageError) -> [UserID: String]

    /// Notes that a device of the account was here (for operators; at most once a session).
    func noteDevice(_ device: DeviceID, of account: AccountID, name: String, now: Timestamp) async throws(StorageError)

    /// Those of the credentials that are revoked, or expired at `now`: their connections are to be cut.
    func voidCredentials(
        among credentials: [CredentialID], now: Timestamp
    ) async throws(StorageError) -> [CredentialID]

    // MARK: What operators decide

    /// Whether the container gives all zones a feed, the default zones and the public database's too, which is beyond
    /// CloudKit; false if there is no such container.
    func feedsEverywhere(in container: ContainerKey) async throws(StorageError) -> Bool

    /// Sets that. Zones that are in the feeds from now on count as changed, so that nobody misses them (I-2).
    ///
    /// - Returns: whether there is such a container.
    func setFeedsEverywhere(_ isOn: Bool, in container: ContainerKey) async throws(StorageError) -> Bool

    /// Sets what the container's databases may hold. Write transactions that begin afterwards know it, on every
    /// server.
    ///
    /// - Returns: whether there is such a container.
    func setQuota(_ quota: StorageQuota, of container: ContainerKey) async throws(StorageError) -> Bool

    /// How full a database is; nil if it has no quota. A server to which the database was without one at its last write
    /// transaction asks nobody, and says nil.
    func storageUse(of database: DatabaseID) async throws(StorageError) -> StorageUse?

    /// The container's own roles that users have; who has none is not in it.
    func roles(of users: [UserID]) async throws(StorageError) -> [UserID: Set<Role>]

    /// Gives a user one of the container's own roles, or takes it away. A role that leaves the schema leaves its users.
    ///
    /// - Returns: false, with nothing changed, if the schema of the user's container has no such role.
    func setRole(_ name: String, of user: UserID, isGiven: Bool) async throws(StorageError) -> Bool

    // MARK: Records

    /// Opens a transaction: locks the zones that exist, in the order of their ids, then reads what is asked for. Databases
    /// with a quota are locked before their zones, so that no two transactions fill the same room.
    ///
    /// - Returns: the transaction, with one snapshot a read, in the order of `reads`. Its schema stamps are read after the
    ///   locks too: whoever changes a schema can tell when nobody writes by the old one any more.
    /// - Throws: ``StorageError/Code/zoneBusy`` if a lock was not to be had in time.
    func beginWrite(_ reads: [ZoneRead]) async throws(StorageError) -> any WriteTransaction

    /// Writes what was decided by what is known of zones without a question, if all of it is still so; a transaction by
    /// itself, all or nothing. The zones are locked first, and found to be as they were at these moments by what is read
    /// after; then nothing else that the decision rests on can have changed either. (The store's life and schemas are looked
    /// at when the statement begins: who waits for those that may write by an older schema waits for it.)
    ///
    /// - Parameters:
    ///   - changes: plain ones (``ZoneChanges/isPlain``), of zones that differ.
    ///   - moments: one a zone, in the same order.
    /// - Throws: ``StorageError/Code/outdated`` if it is not so any more: nothing was written. Any other code as
    ///   ``WriteTransaction/commit(_:)``, and ``StorageError/Code/zoneBusy`` as ``beginWrite(_:)``.
    func commit(_ changes: [ZoneChanges], at moments: [ZoneMoment]) async throws(StorageError)

    /// Records by name, tombstones included; names never used are left out.
    func records(named names: [String], in key: ZoneKey) async throws(StorageError) -> ZoneSnapshot

    // MARK: Queries

    /// Living records that a query finds, in its order, of one snapshot. Exactly what ``QueryScan`` finds.
    ///
    /// A store may find them by indexes for what the container's schema marks: in development it marks what a query needs
    /// and computes it for the records that are there, so that the first such query takes a moment.
    ///
    /// - Parameter query: one that was checked by the schema.
    func queryPage(_ query: QueryPageQuery) async throws(StorageError) -> StoreRead<QueryPageRead>

    // MARK: Schema

    /// The schema of a container in its environment.
    ///
    /// - Throws: ``StorageError/Code/containerUnknown``.
    func schema(of container: ContainerID) async throws(StorageError) -> ContainerSchema

    /// The version that ``schema(of:)`` would have now.
    func schemaVersion(of container: ContainerID) async throws(StorageError) -> Int64

    /// Adds what the schema does not know yet; what it knows stays (R-062: the first is right, also between servers). A
    /// frozen one learns nothing. The version stays.
    ///
    /// - Returns: the schema afterwards.
    func learn(_ lesson: SchemaLesson, in container: ContainerID) async throws(StorageError) -> ContainerSchema

    /// Puts `schema` in the place of `current`, and counts the version on: for operators.
    ///
    /// - Returns: false, with nothing changed, if the schema is not `current` any more.
    func replaceSchema(_ current: ContainerSchema, by schema: Schema) async throws(StorageError) -> Bool

    // MARK: Zones

    /// Opens a transaction on the database's row, and locks the living zones among `names` as well.
    func beginZonesWrite(
        in database: DatabaseID, names: [String], life: DeviceID
    ) async throws(StorageError) -> any ZonesTransaction

    /// Living zones, by id.
    func zones(in database: DatabaseID) async throws(StorageError) -> [ZoneState]

    /// Why the last incarnation of each zone ended, by name; of zones that never ended there is nothing.
    func removals(
        ofZones names: [String], in database: DatabaseID
    ) async throws(StorageError) -> [String: ZoneRemovalReason]

    // MARK: Changes

    func zonePage(_ query: ZonePageQuery) async throws(StorageError) -> StoreRead<ZonePageRead>

    /// Looks at a viewer's feed without a lock, and then at a page of a zone's feed if that is wanted: it shows all that the
    /// first one tells of. With `after` nil: living zones only.
    func databaseFeed(
        of viewer: DatabaseID, after: ChangeNumber?, entriesMax: Int, then query: ZonePageQuery?
    ) async throws(StorageError) -> (feed: StoreRead<DatabaseFeedRead>, page: StoreRead<ZonePageRead>?)

    /// Locks the viewer's feed row (never a zone's), gives each zone that has moved the next feed number, and returns the
    /// feed as it is then when that is durable.
    func advanceDatabaseFeed(
        of viewer: DatabaseID, after: ChangeNumber?, entriesMax: Int
    ) async throws(StorageError) -> StoreRead<DatabaseFeedRead>

    // MARK: Subscriptions

    /// Those of zones that are gone are not among them.
    func subscriptions(of user: UserID) async throws(StorageError) -> [Subscription]
    /// Inserts or replaces. A zone subscription is of the zone that has its name now, in the user's private database.
    ///
    /// - Parameter countMax: how many the user may then have. Saves at the same moment may each be the last one.
    func saveSubscription(
        _ subscription: Subscription, of user: UserID, atMost countMax: Int
    ) async throws(StorageError) -> SubscriptionSave
    /// - Returns: whether there was one.
    func deleteSubscription(
        _ id: String, scope: DatabaseScope, of user: UserID
    ) async throws(StorageError) -> Bool

    // MARK: Assets

    /// Makes an asset known that has been uploaded; its grace time begins (anew).
    func keepAsset(_ asset: AssetKey, now: Timestamp) async throws(StorageError)

    /// As ``keepAsset(_:now:)`` for those that are not known; leaves the others alone.
    ///
    /// - Returns: how many were not known.
    func adoptAssets(_ assets: [AssetKey], now: Timestamp) async throws(StorageError) -> Int

    /// Assets that no record of a living zone names, and that were last kept, named or no longer named before; in order,
    /// those after `last`.
    func unusedAssets(
        touchedBefore deadline: Timestamp, after last: AssetKey?, limit: Int
    ) async throws(StorageError) -> [AssetKey]

    /// Locks the asset's row, and if it is still unused and untouched, calls `remove` and forgets the asset if that says
    /// so. Meanwhile no save can name it.
    ///
    /// - Returns: whether it was forgotten.
    func forgetAsset(
        _ asset: AssetKey, touchedBefore deadline: Timestamp, remove: @Sendable () async -> Bool
    ) async throws(StorageError) -> Bool

    // MARK: Keys

    func accountKey(of user: UserID) async throws(StorageError) -> StoredAccountKey

    /// Saves the key if the account has none and its mode is the key's.
    ///
    /// - Parameter masterKeyCheck: by which master key its escrow is closed. Nothing is saved if keys in the store are
    ///   closed by another one; it says so at the moment of the save, also while the master key is being changed.
    /// - Returns: what is stored afterwards.
    func saveAccountKey(
        _ key: StoredAccountKey, of user: UserID, masterKeyCheck: [UInt8], now: Timestamp
    ) async throws(StorageError) -> StoredAccountKey

    /// Makes this the master key of the store if it has none yet.
    ///
    /// - Returns: whether it is the store's master key.
    func claimMasterKey(check: [UInt8]) async throws(StorageError) -> Bool

    /// One entry a name, in that order.
    func zoneKeys(of names: [String], in database: DatabaseID) async throws(StorageError) -> [ZoneKeysRead]

    /// Saves a key of the living zone if its newest one is `newest` (nil: it has none), and it has fewer than `countMax`.
    ///
    /// - Returns: the zone's keys afterwards.
    func saveZoneKey(
        _ key: WrappedZoneKey, in zone: ZoneKey, after newest: [UInt8]?, atMost countMax: Int, now: Timestamp
    ) async throws(StorageError) -> ZoneKeysRead

    // MARK: Between servers

    /// Tells every server (this one too, if it listens). A hint: may be lost (I-4).
    func post(_ notices: [ServerNotice]) async throws(StorageError)

    /// The newest change of each of these databases, for the sweep that repairs lost hints: the sum of its zones' change
    /// numbers and zone creations and ends. It differs from the last answer if anything changed.
    func changeMarks(of databases: [DatabaseID]) async throws(StorageError) -> [DatabaseID: Int64]
}

extension Storage {
    /// The life of the store that is going on.
    package func incarnation() async throws(StorageError) -> StoreIncarnation { try await standing().incarnation }
}

/// What holds for a whole store.
package struct StoreStanding: Sendable, Equatable {
    package let incarnation: StoreIncarnation
    /// Counts how often outcomes of requests were forgotten, from 1.
    package let memoryEpoch: Int64

    package init(incarnation: StoreIncarnation, memoryEpoch: Int64) {
        self.incarnation = incarnation
        self.memoryEpoch = memoryEpoch
    }
}

/// Zones that are locked, and what was read of them. Ends by ``commit(_:)`` or ``rollback()``, exactly one of them.
package protocol WriteTransaction: AnyObject, Sendable {
    /// One a read of `beginWrite`, in that order.
    var snapshots: [ZoneSnapshot] { get }

    /// The life of the store that is going on, read by the same transaction after the locks.
    var store: StoreIncarnation { get }

    /// Writes and commits.
    ///
    /// - Throws: ``StorageError/Code/commitUnknown`` if it is not known whether it took place; any other code: it did not.
    func commit(_ changes: [ZoneChanges]) async throws(StorageError)

    func rollback() async
}

/// A moment in the life of a zone: while these are what they were, nothing has been written in it since, and it is judged by
/// the same schema.
package struct ZoneMoment: Sendable, Hashable {
    package let store: StoreIncarnation
    package let schema: SchemaStamp
    package let database: DatabaseID
    package let zone: ZoneID
    package let changeNumber: ChangeNumber
    /// See ``ZoneSnapshot/writeNumber``.
    package let writeNumber: Int64
    /// Records that were taken for ones that have never been there: they must not be, nor their tombstones.
    package var absentNames: [String] = []

    package init(
        store: StoreIncarnation, schema: SchemaStamp, database: DatabaseID, zone: ZoneID, changeNumber: ChangeNumber,
        writeNumber: Int64
    ) {
        self.store = store
        self.schema = schema
        self.database = database
        self.zone = zone
        self.changeNumber = changeNumber
        self.writeNumber = writeNumber
    }
}

/// A database whose set of zones is locked. Ends by ``commit(_:now:)`` or ``rollback()``, exactly one of them.
package protocol ZonesTransaction: AnyObject, Sendable {
    var snapshot: ZonesSnapshot { get }

    /// - Throws: as ``WriteTransaction/commit(_:)``.
    func commit(_ changes: ZonesChanges, now: Timestamp) async throws(StorageError)

    func rollback() async
}

/// "Zone Z of database D moved": what servers tell each other after a commit.
package struct ZoneNotice: Sendable, Hashable {
    package let database: DatabaseID
    /// The life that caused it, which gets no push; `nobody` where several did, or an operator: all are told.
    package let life: DeviceID
    /// Empty when the set of zones changed rather than a zone's records.
    package let zoneName: String

    package init(database: DatabaseID, life: DeviceID, zoneName: String) {
        self.database = database
        self.life = life
        self.zoneName = zoneName
    }
}

/// What a commit moved: for pushes to the devices that are connected, and notices to other servers.
package struct ZonesMoved: Sendable {
    package var notices: [ZoneNotice]
    /// Of some of these zones, what changed there.
    package var news: [ZoneNews]

    package init(_ notices: [ZoneNotice], news: [ZoneNews] = []) {
        self.notices = notices
        self.news = news
    }
}

/// What servers that share a store tell each other. A hint: may be lost (I-4).
package enum ServerNotice: Sendable, Hashable {
    case zone(ZoneNotice)
    case credentialRevoked(CredentialID)
}

/// What became of a subscription that was to be saved; nothing is done if it was not.
package enum SubscriptionSave: Sendable, Equatable {
    case saved
    case tooMany
    /// There is no such zone in the private database.
    case zoneMissing
}
