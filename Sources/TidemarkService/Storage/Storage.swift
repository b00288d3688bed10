// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain

/// The durable store: PostgreSQL (TidemarkStore), or memory (TidemarkTestKit). One conformance suite holds both to the
/// same behaviour.
///
/// Correctness rests on these promises:
/// - *Lock first, read after*: a transaction's snapshot was read after the zone rows were locked, and nobody else
///   changes those zones until the transaction ends. A decision from cached knowledge is proven in the same way, under
///   the lock under which it is written (``commit(_:at:)``).
/// - *One snapshot*: each read below is one statement; the parts of its answer belong together.
/// - *Durable before told*: when `commit` or `advanceDatabaseFeed` returns, the change survives a crash (I-1).
/// - *Assets are held*: an asset that a snapshot shows is not forgotten before the transaction has ended.
/// - *Unknown is said*: if the answer to a commit is lost, the error is ``StorageError/Code/commitUnknown``. Then only
///   remembered requests tell whether the commit took place.
///
/// Nothing here decides: rules are pure functions in TidemarkDomain.
package protocol Storage: KeyGrantStorage {
    /// The current incarnation of the store, and its memory epoch.
    func standing() async throws(StorageError) -> StoreStanding

    /// Begins the next memory epoch and clears the memories of requests that are too old for it.
    ///
    /// - Parameters:
    ///   - age: how long the current epoch must have lasted by the store's own clock; otherwise nothing is done. A
    ///     clock that was set can make an epoch too short or too long. That keeps more or fewer memories, but does no
    ///     harm.
    ///   - kept: a memory is cleared if it was written this many epochs ago, or earlier.
    /// - Returns: whether there is a new epoch.
    func advanceMemoryEpoch(after age: Duration, keeping kept: Int64) async throws(StorageError) -> Bool

    // MARK: Accounts and containers

    /// The holder of the credential with this SHA-256, in this container. Creates the user and the private database on
    /// their first use.
    ///
    /// - Parameter containersMax: an unknown container is created if the account is a user of fewer than that many of
    ///   its environment. 0: never. Calls at the same moment do not create more together.
    /// - Returns: nil if there is no such credential, if it is revoked or expired at `now`, or if its account is disabled.
    /// - Throws: ``StorageError/Code/containerUnknown`` if there is no such container and none is to be created;
    ///   ``StorageError/Code/containerClosed`` if an operator deletes it.
    func identity(
        credentialHash: [UInt8], container: String, environment: ContainerEnvironment, containersMax: Int,
        now: Timestamp
    ) async throws(StorageError) -> Identity?

    /// The identifiers of the containers in which an account is a user already, the newest first. The account may see
    /// these (I-5). There are none for a credential that is unknown, revoked or expired at `now`.
    func containers(
        credentialHash: [UInt8], environment: ContainerEnvironment, countMax: Int, now: Timestamp
    ) async throws(StorageError) -> [String]

    /// The public database of a container. It and its default zone are created on first use.
    ///
    /// - Returns: nil if there is no such container.
    /// - Throws: ``StorageError/Code/containerClosed``.
    func publicDatabase(of container: ContainerKey, now: Timestamp) async throws(StorageError) -> PublicDatabase?

    /// The record names of these users. Users that do not exist are left out.
    func userRecordNames(of users: [UserID]) async throws(StorageError) -> [UserID: String]

    /// The users of a container who have these record names. Names that nobody has are left out.
    func users(named names: [String], in container: ContainerKey) async throws(StorageError) -> [UserID: String]

    /// The same without those whose accounts were deleted: records name them, and nobody is there.
    func persons(named names: [String], in container: ContainerKey) async throws(StorageError) -> [UserID: String]

    /// Records that a device of the account was here, and its sign-in (for operators; at most once in a session). Nothing
    /// else depends on it.
    ///
    /// - Parameters:
    ///   - address: the address from which it connects; empty if unknown.
    ///   - countMax: how many devices of the account are kept, the last seen ones.
    /// - Returns: false if an operator has revoked the device: it may not come in.
    @discardableResult
    func noteDevice(
        _ device: DeviceID, of account: AccountID, name: String, from address: String, atMost countMax: Int,
        now: Timestamp
    ) async throws(StorageError) -> Bool

    /// Why a credential opens no session with this device. `credentialUnknown` if nothing is known of it, or if nothing
    /// is wrong any more.
    func signInProblem(
        credentialHash: [UInt8], device: DeviceID, now: Timestamp
    ) async throws(StorageError) -> SignInProblem

    /// Records that a credential opened no session.
    func noteRefusedSignIn(
        credentialHash: [UInt8], device: DeviceID, from address: String, now: Timestamp
    ) async throws(StorageError)

    /// The kept progress of these devices. Devices without any are left out.
    func deviceProgress(of devices: [AccountDevice]) async throws(StorageError) -> [AccountDevice: NotedProgress]

    /// Keeps a server's knowledge of devices, and replaces older knowledge. The data is for operators; nothing else depends on it. A device
    /// that the store does not list (``noteDevice(_:of:name:atMost:now:)``) is left out.
    ///
    /// - Parameter noted: the time of the knowledge that the server has read and takes over. For a device that is not in it, nothing was
    ///   kept.
    /// - Returns: the devices whose progress is kept. Data that another server has written since stays as it is.
    func keepProgress(
        _ progress: [AccountDevice: DeviceProgress], over noted: [AccountDevice: Timestamp], now: Timestamp
    ) async throws(StorageError) -> Set<AccountDevice>

    /// All devices of these accounts that an operator has revoked: their connections are to be closed.
    func revokedDevices(of accounts: [AccountID]) async throws(StorageError) -> [AccountDevice]

    /// The credentials among these that open nothing any more. Their connections are to be closed. A credential is
    /// revoked, expired at `now`, or of an account that is disabled. Those of a deleted account are gone.
    func voidCredentials(
        among credentials: [CredentialID], now: Timestamp
    ) async throws(StorageError) -> [CredentialID]

    /// The connections that operators have closed recently, for a server that may have missed notices.
    func connectionClosings() async throws(StorageError) -> [ConnectionsClosing]

    /// The containers among these that are closed, or deleted: their sessions are to be closed.
    func closedContainers(among containers: [ContainerID]) async throws(StorageError) -> [ContainerID]

    // MARK: Choices of operators

    /// Closes a container before it is deleted. From the next transaction on, nobody signs in, nothing is saved and no zone is created in
    /// it. The caller tells the servers. Closing it again changes nothing.
    ///
    /// - Returns: nil if there is no such container.
    func closeContainer(_ container: ContainerKey) async throws(StorageError) -> ClosedContainer?

    /// Whether the container gives all zones a feed, even default zones and those of the public database. That is
    /// beyond CloudKit. False if there is no such container.
    func feedsEverywhere(in container: ContainerKey) async throws(StorageError) -> Bool

    /// Sets ``feedsEverywhere(in:)``. Zones that join the feeds count as changed, so that no device misses them (I-2).
    ///
    /// - Returns: whether there is such a container.
    func setFeedsEverywhere(_ isOn: Bool, in container: ContainerKey) async throws(StorageError) -> Bool

    /// Sets the quota of the container's databases. Write transactions that begin later know it, on every
    /// server.
    ///
    /// - Returns: whether there is such a container.
    func setQuota(_ quota: StorageQuota, of container: ContainerKey) async throws(StorageError) -> Bool

    /// How full a database is; nil if it has no quota. If the database had no quota at this server's last write
    /// transaction, the server returns nil without a read.
    /// If its owner's account has a quota too: the one that leaves less room.
    func storageUse(of database: DatabaseID) async throws(StorageError) -> StorageUse?

    /// A user's use of their share of a public database. It includes assets that the user has sent and that no record of the user
    /// names. Nil: there is no bound, or the database had none at this server's last write transaction.
    func publicUse(of user: UserID, in database: DatabaseID) async throws(StorageError) -> StorageUse?

    /// Sets how many bytes the private databases of an account may hold together, in all containers.
    ///
    /// - Parameters:
    ///   - bytesMax: nil for no quota of the account's own.
    ///   - account: nil: every account without its own quota.
    /// - Returns: whether there is such an account.
    func setAccountQuota(_ bytesMax: Int64?, of account: AccountID?) async throws(StorageError) -> Bool

    /// Operators' choices for these users and their accounts. Users that do not exist are left out.
    func limits(of users: [UserID]) async throws(StorageError) -> [UserID: AccountLimits]

    /// Chooses what an account may send to each server, or each account in a container. False: it is not there.
    ///
    /// - Parameter account: nil: each account without its own choice, in place of the servers' default.
    func setRequestRate(_ choice: RateChoice, of account: AccountID?) async throws(StorageError) -> Bool
    func setRequestRate(_ choice: RateChoice, in container: ContainerKey) async throws(StorageError) -> Bool

    /// Chooses how many connections an account may have to each server. False: there is no such account.
    ///
    /// - Parameters:
    ///   - count: nil: nothing is chosen.
    ///   - account: nil: each account without its own choice, in place of the servers' default.
    func setConnectionsMax(_ count: Int32?, of account: AccountID?) async throws(StorageError) -> Bool

    /// The container's own roles that these users have. Users without roles are left out.
    func roles(of users: [UserID]) async throws(StorageError) -> [UserID: Set<Role>]

    /// Gives a user one of the container's own roles, or takes it away. If a role is removed from the schema, its users
    /// lose it.
    ///
    /// - Returns: false, with nothing changed, if the schema of the user's container has no such role.
    func setRole(_ name: String, of user: UserID, isGiven: Bool) async throws(StorageError) -> Bool

    // MARK: Records

    /// Opens a transaction: locks the zones that exist, in the order of their ids, then reads the requested data.
    /// Databases with a quota are locked before their zones, so that no two transactions use the same room.
    ///
    /// The reads are bounded. The records whose fields are needed come first, then the others, in the order of the reads and of
    /// their names. As in ``records(named:in:bytesMax:sharing:)``, those beyond the largest ``ZoneRead/storedBytesMax`` come without
    /// fields. References, children and ancestors are cut (``ZoneSnapshot/areRelativesCut``).
    ///
    /// - Returns: the transaction, with one snapshot for each read, in the order of `reads`. Its schema stamps are read
    ///   after the locks too. So an operator who changes a schema can tell when nobody writes by the old one any more.
    /// - Throws: ``StorageError/Code/zoneBusy`` if a lock was not available in time.
    func beginWrite(_ reads: [ZoneRead]) async throws(StorageError) -> any WriteTransaction

    /// Writes a decision that was made from cached data, if all of that is still true. This is a separate transaction,
    /// all or nothing. It locks the zones first. The reads after that must show them unchanged since these moments.
    /// Then nothing else that the decision rests on can have changed either. The store's incarnation and the schemas
    /// are checked when the statement begins. An operator who waits until no server writes by an older schema waits for
    /// this statement too.
    ///
    /// - Parameters:
    ///   - changes: plain ones (``ZoneChanges/isPlain``), each of another zone.
    ///   - moments: one for each zone, in the same order.
    /// - Throws: ``StorageError/Code/outdated`` if the cached data is no longer true; nothing was written. Other codes
    ///   as ``WriteTransaction/commit(_:)``, and ``StorageError/Code/zoneBusy`` as ``beginWrite(_:)``.
    func commit(_ changes: [ZoneChanges], at moments: [ZoneMoment]) async throws(StorageError)

    /// Records by name, with tombstones. Names that were never used are left out.
    ///
    /// - Parameters:
    ///   - names: each once.
    ///   - bytesMax: the records come with their fields, in the order of the names, as long as these have no more bytes
    ///     together. Those of the first record with fields always come. The others are ``ZoneSnapshot/unread``, and
    ///     their fields are not read.
    ///   - sharing: what of the zone's shares is read in the same snapshot. If it is read for a user, the snapshot does not
    ///     say why a zone is missing.
    func records(
        named names: [String], in key: ZoneKey, bytesMax: Int, sharing: SharingRead
    ) async throws(StorageError) -> ZoneSnapshot

    // MARK: Queries

    /// The living records that a query finds, in its order and in one snapshot. Exactly what ``QueryScan`` finds.
    ///
    /// A store may use indexes for what the container's schema marks. In development it marks what a query needs and
    /// computes the index values of existing records, so the first such query takes a moment.
    ///
    /// - Parameters:
    ///   - query: one that was checked by the schema.
    ///   - turn: its place among the queries, which it gives back while it waits for such a preparation. Its
    ///     owner's are the turns at the store, and the places of its indexes.
    /// - Throws: ``StorageError/Code/queryTooSlow`` and ``StorageError/Code/crowded``.
    func queryPage(
        _ query: QueryPageQuery, for turn: WorkTurn
    ) async throws(StorageError) -> StoreRead<QueryPageRead>

    // MARK: Schema

    /// The schema of a container in its environment.
    ///
    /// - Throws: ``StorageError/Code/containerUnknown``, ``StorageError/Code/containerClosed``.
    func schema(of container: ContainerID) async throws(StorageError) -> ContainerSchema

    /// The version that ``schema(of:)`` would have now.
    func schemaVersion(of container: ContainerID) async throws(StorageError) -> Int64

    /// The revision that ``schema(of:)`` would have now. Reads less than that.
    func schemaRevision(of container: ContainerID) async throws(StorageError) -> SchemaRevision

    /// Adds types and fields that the schema does not have. Those that it has stay (R-062: the first lesson wins, also
    /// between servers). A frozen schema learns nothing. The version stays.
    ///
    /// - Returns: the part of the lesson that the schema has afterwards, with its version.
    func learn(_ lesson: SchemaLesson, in container: ContainerID) async throws(StorageError) -> ContainerSchema

    /// Replaces `current` with `schema` and increments the version: for operators.
    ///
    /// - Returns: false, with nothing changed, if the schema is no longer `current`.
    func replaceSchema(_ current: ContainerSchema, by schema: Schema) async throws(StorageError) -> Bool

    /// Forgets tombstones of a database: first those of the zones that have most, and in a zone the oldest. Older tokens are
    /// expired. About half of them are kept. If there are very many, one call forgets only some.
    func forgetTombstones(of database: DatabaseID) async throws(StorageError)

    // MARK: Zones

    /// Opens a transaction on the database's row, and locks the living zones among `names` too.
    func beginZonesWrite(
        in database: DatabaseID, names: [String], life: DeviceID
    ) async throws(StorageError) -> any ZonesTransaction

    /// Forgets those ended zones of a database that ended first, and keeps some. Tokens from before their ends are expired.
    /// Zones with remaining data stay until it is cleared. If there are very many, one call forgets only some.
    func forgetEndedZones(of database: DatabaseID, keeping countMax: Int) async throws(StorageError)

    /// The first `zonesMax` living zones after the one with the id `after`, by id. With `after` nil: of all zones. A
    /// newer zone of a database has a larger id. They say whether they are shared (``ZoneState/isShared``).
    func zones(in database: DatabaseID, after: ZoneID?, zonesMax: Int) async throws(StorageError) -> [ZoneState]

    /// The living zones among `names`, in any order. They say whether they are shared.
    func zones(named names: [String], in database: DatabaseID) async throws(StorageError) -> [ZoneState]

    /// Why the last incarnation of each zone ended, by name. Zones that never ended are left out.
    func removals(
        ofZones names: [String], in database: DatabaseID
    ) async throws(StorageError) -> [String: ZoneRemovalReason]

    // MARK: Sharing

    /// The owners with these record names in a container. Names that nobody has are left out.
    func owners(named names: [String], in container: ContainerKey) async throws(StorageError) -> [String: ZoneOwner]

    /// The owners of these private databases. Others are left out.
    func owners(of databases: [DatabaseID]) async throws(StorageError) -> [DatabaseID: ZoneOwner]

    /// Those of the zones that live, and their shares, in one snapshot and in any order. The zones may be in several
    /// databases.
    func sharings(
        of keys: [ZoneKey], _ read: SharingRead
    ) async throws(StorageError) -> [(zone: ZoneState, sharing: ZoneSharing)]

    /// A living zone's incarnation and shares, with one user's part in them; nil if it does not live. It is one statement, and
    /// enough to decide about the user's access.
    func shareAccess(
        of user: UserID, to key: ZoneKey
    ) async throws(StorageError) -> (zone: ZoneID, sharing: ZoneSharing)?

    /// The living zones to which the links with these SHA-256 lead. Links that lead nowhere are left out. They grant nothing.
    ///
    /// - Parameter viewer: the database of who opens them. No link leads from one container or environment to another.
    func linkedZones(
        secretHashes: [[UInt8]], for viewer: DatabaseID
    ) async throws(StorageError) -> [[UInt8]: ZoneKey]

    /// Makes a link lead to a living zone. A save that makes a share calls this before the change that gives the zone the link's secret. If
    /// the zone already has a secret, it keeps that one. Then the link with that secret leads to the zone instead.
    ///
    /// - Parameter countMax: how many links may lead to the zone whose secrets it has not got (yet). Links that are so old
    ///   that no save can still be about to take their secrets are removed, and do not count.
    /// - Returns: nil if the zone does not live.
    /// - Throws: ``StorageError/Code/crowded`` if the zone has too many.
    func pointLink(
        secretHash: [UInt8], to key: ZoneKey, root: String?, atMost countMax: Int
    ) async throws(StorageError) -> ZoneID?

    /// Puts a living zone into the list of a viewer's shared database. This grants nothing. An acceptance calls it before
    /// the change that gives the viewer access.
    ///
    /// - Parameters:
    ///   - viewer: a shared database.
    ///   - countMax: how many zones the list may have afterwards. If it has so many, some are removed first: zones that have ended,
    ///     and zones without access that no acceptance wrote into the list within the last hour. Zones whose ends the feed must still tell
    ///     stay, and do not count.
    func pointViewer(
        _ viewer: DatabaseID, to key: ZoneKey, atMost countMax: Int
    ) async throws(StorageError) -> PointedViewer

    /// The zones in a viewer's list to which this user has access, by id, after `after`.
    func sharedZones(
        of viewer: DatabaseID, for user: UserID, after: ZoneID?, zonesMax: Int
    ) async throws(StorageError) -> [ZoneState]

    /// The verified addresses of a user's account, in their normal form.
    func addresses(of user: UserID) async throws(StorageError) -> Set<String>

    /// The users of a container whose accounts have verified these addresses. Others are left out.
    func users(
        withAddresses addresses: [String], in container: ContainerKey
    ) async throws(StorageError) -> [String: UserID]

    // MARK: Changes

    func zonePage(_ query: ZonePageQuery) async throws(StorageError) -> StoreRead<ZonePageRead>

    /// The names and versions of a living zone's records, or a digest of them, in one snapshot; nil if the zone is not living.
    /// Without a listing the cost does not depend on how many records there are.
    func inventory(
        of key: ZoneKey, _ listing: ZoneListing?
    ) async throws(StorageError) -> StoreRead<ZoneInventory?>

    /// Reads a viewer's feed without a lock, then a page of a zone's feed if that is wanted. The page shows everything
    /// that the feed says of its zone. With `after` nil: living zones only.
    ///
    /// - Parameter query: the part of the zone's shares that it needs is in one snapshot with the page, as in ``zonePage(_:)``.
    func databaseFeed(
        of viewer: DatabaseID, after: ChangeNumber?, entriesMax: Int, then query: ZonePageQuery?
    ) async throws(StorageError) -> (feed: StoreRead<DatabaseFeedRead>, page: StoreRead<ZonePageRead>?)

    /// Locks the viewer's feed row (never a zone's), and gives each zone that has changed the next feed number. It
    /// returns the feed in that state once it is durable.
    func advanceDatabaseFeed(
        of viewer: DatabaseID, after: ChangeNumber?, entriesMax: Int
    ) async throws(StorageError) -> StoreRead<DatabaseFeedRead>

    // MARK: Subscriptions

    /// Subscriptions of zones that are gone are left out.
    ///
    /// - Parameter withFired: whether the result includes subscriptions that fired once, and thereby ended, within
    ///   ``Subscription/firedDaysMax``.
    func subscriptions(of user: UserID, withFired: Bool) async throws(StorageError) -> [Subscription]

    /// Inserts or replaces subscriptions in one transaction, as ``SubscriptionSaves`` decides. A zone subscription
    /// belongs to the zone that has its name now, in the user's private database.
    ///
    /// - Parameter countMax: how many the user may have afterwards.
    /// - Returns: why each is refused, in their order; nil for those that are saved.
    func saveSubscriptions(
        _ subscriptions: [Subscription], of user: UserID, atMost countMax: Int
    ) async throws(StorageError) -> [FailureReason?]

    /// Deletes subscriptions in one transaction.
    ///
    /// - Returns: those that existed.
    func deleteSubscriptions(
        _ ids: Set<String>, scope: DatabaseScope, of user: UserID
    ) async throws(StorageError) -> Set<String>

    /// Ends subscriptions that fire once, in one transaction. One that was changed since it was read stays.
    ///
    /// - Returns: those that this call has ended, whose pushes the caller sends.
    func fireOnce(_ subscriptions: [WatchingSubscription]) async throws(StorageError) -> Set<SubscriberKey>

    /// The query subscriptions that look at each of these databases (``SubscriptionQuery/database``), by user, scope and
    /// ID. Those of zones that are gone, and those that have fired once, are left out, and so are databases without any.
    ///
    /// - Parameters:
    ///   - after: only those behind it. Nil: from the first one.
    ///   - countMax: how many of each database.
    func querySubscriptions(
        watching databases: [DatabaseID], after: SubscriberKey?, atMost countMax: Int
    ) async throws(StorageError) -> [DatabaseID: WatchingPage]

    /// Those of one database that look at records of one type, in the same order and with the same left out.
    func querySubscriptions(
        watching database: DatabaseID, ofType recordType: String, after: SubscriberKey?, atMost countMax: Int
    ) async throws(StorageError) -> WatchingPage

    /// The record types at which the query subscriptions of a database look, at most so many. Those of subscriptions that
    /// are left out may be among them.
    func watchedTypes(in database: DatabaseID, atMost countMax: Int) async throws(StorageError) -> Set<String>

    // MARK: Assets

    /// Makes an uploaded asset known. Its grace time begins, or begins again.
    ///
    /// An unknown asset is kept only if the database's quota has room for it. An asset that no record of its sender names is kept
    /// only if the sender's share of a public database has room. That is decided in the transaction that keeps the asset, under the
    /// lock that all other writers of the database take. Two assets never fill the same room.
    ///
    /// - Parameters:
    ///   - sender: the user who has sent it to a public database, and may name it there from now on.
    ///   - remove: called if there is no room, under the lock. Nobody else makes the asset known at the same time.
    /// - Returns: whether the asset is known now.
    func keepAsset(
        _ asset: AssetKey, from sender: UserID?, now: Timestamp, ifFull remove: @Sendable () async -> Void
    ) async throws(StorageError) -> Bool

    /// The users who may name an asset of a public database: whether this user has sent it, and records that
    /// name it. If the asset is not known, nobody may.
    func assetClaims(of asset: AssetKey, by user: UserID) async throws(StorageError) -> AssetClaims

    /// Forgets who sent which assets before the given time. Records that name them say enough, or nobody does.
    func forgetSenders(before deadline: Timestamp) async throws(StorageError)

    /// As ``keepAsset(_:from:now:ifFull:)`` for unknown assets, whatever the quota. Leaves the others alone.
    ///
    /// - Returns: how many were unknown.
    func adoptAssets(_ assets: [AssetKey], now: Timestamp) async throws(StorageError) -> Int

    /// Assets that no record of a living zone names, and that were last kept, named or no longer named before the given
    /// time. They are in order, among the first `countMax` assets after `last`, so that the read stays bounded.
    ///
    /// - Returns: `last`: where the next call begins; nil if there are no more assets.
    func unusedAssets(
        touchedBefore deadline: Timestamp, after last: AssetKey?, among countMax: Int
    ) async throws(StorageError) -> (unused: [AssetKey], last: AssetKey?)

    /// Locks the asset's row. If the asset is still unused and untouched, calls `remove`, and forgets the asset if that
    /// returns true. Meanwhile no save can name it.
    ///
    /// - Returns: whether the asset was forgotten.
    func forgetAsset(
        _ asset: AssetKey, touchedBefore deadline: Timestamp, remove: @Sendable () async -> Bool
    ) async throws(StorageError) -> Bool

    // MARK: Keys

    func accountKey(of user: UserID) async throws(StorageError) -> StoredAccountKey

    /// Saves the key if the account has none and has the key's mode. If it has that key, its public half is kept, unless there is one.
    ///
    /// - Parameter masterKeyCheck: the check of the master key that encrypts the key's escrow. Nothing is saved if keys
    ///   in the store are encrypted with another one. This is decided at the moment of the save, even while the master
    ///   key is being changed.
    /// - Returns: the stored key afterwards.
    func saveAccountKey(
        _ key: StoredAccountKey, of user: UserID, masterKeyCheck: [UInt8], now: Timestamp
    ) async throws(StorageError) -> StoredAccountKey

    /// Makes this the master key of the store if it has none yet.
    ///
    /// - Returns: whether it is the store's master key.
    func claimMasterKey(check: [UInt8]) async throws(StorageError) -> Bool

    /// One entry for each zone, in that order, up to the first one whose keys do not fit. No more are read.
    ///
    /// - Parameters:
    ///   - keysMax: the number of keys that fit. A zone without keys counts as one. It is at least the most keys of a zone, or there may be
    ///     no entry at all.
    ///   - sharing: the part of the zones' shares that is read in the same snapshot. A zone to which its only user has
    ///     no access counts as nothing.
    func zoneKeys(
        of zones: [ZoneKey], keysMax: Int, sharing: SharingRead
    ) async throws(StorageError) -> [ZoneKeysRead]

    /// Adds a key to the living zone if its newest key is `newest` (nil: it has none), and if it has fewer than
    /// `countMax`.
    ///
    /// - Parameter rowsMax: `Limits.sharingRowsMax`. If the owner's account has as much already, only zones without a key
    ///   get one.
    /// - Returns: the zone's keys afterwards.
    func saveZoneKey(
        _ key: WrappedZoneKey, in zone: ZoneKey, after newest: [UInt8]?, atMost countMax: Int, rowsMax: Int,
        now: Timestamp
    ) async throws(StorageError) -> ZoneKeysRead

    /// From now on no save may have values under the keys of the living zone that are older than this one. Servers' cached data of
    /// the zone is outdated. Does nothing if the zone has no such key.
    func retireZoneKeys(in zone: ZoneKey, before id: [UInt8]) async throws(StorageError)

    // MARK: Between servers

    /// Notifies every server, including this one if it listens. A hint: it may be lost (I-4).
    func post(_ notices: [ServerNotice]) async throws(StorageError)

    /// A mark of each of these databases, for the sweep that makes up for lost hints. It differs from the last answer if
    /// anything changed. All zones of the databases are read for it.
    func changeMarks(of databases: [DatabaseID]) async throws(StorageError) -> [DatabaseID: ChangeMark]

    /// The same of shared databases, each with its user. It differs if the user has access to other zones, or if one of them has another
    /// change number. Nothing else changes it (I-5).
    func sharedMarks(
        of viewers: [DatabaseID: UserID]
    ) async throws(StorageError) -> [DatabaseID: ChangeMark]
}

extension Storage {
    /// The current incarnation of the store.
    package func incarnation() async throws(StorageError) -> StoreIncarnation { try await standing().incarnation }

    /// A living zone and its shares; nil if it does not live.
    package func sharing(
        of key: ZoneKey, _ read: SharingRead
    ) async throws(StorageError) -> (zone: ZoneState, sharing: ZoneSharing)? {
        try await sharings(of: [key], read).first
    }

    /// The living zone to which one link leads; nil: it leads nowhere.
    package func linkedZone(secretHash: [UInt8], for viewer: DatabaseID) async throws(StorageError) -> ZoneKey? {
        try await linkedZones(secretHashes: [secretHash], for: viewer)[secretHash]
    }
}

/// The state of a store as a whole.
package struct StoreStanding: Sendable, Equatable {
    package let incarnation: StoreIncarnation
    /// Counts from 1 how often outcomes of requests were cleared.
    package let memoryEpoch: Int64

    package init(incarnation: StoreIncarnation, memoryEpoch: Int64) {
        self.incarnation = incarnation
        self.memoryEpoch = memoryEpoch
    }
}

/// The outcome for a zone in a viewer's list.
package enum PointedViewer: Sendable, Equatable {
    /// The list has it, or had it before.
    case done
    /// It does not live.
    case zoneMissing
    /// The list has no room for another.
    case full
}
