// SPDX-License-Identifier: Apache-2.0

import TidemarkDomain
import TidemarkScheduling
import TidemarkService
import TidemarkTestKit
import TidemarkTestSupport

/// A store that makes one ``PlantedFault``, and is otherwise the one beneath.
final class PlantedStorage: Storage {
    let base: MemoryStore
    private let fault: PlantedFault
    fileprivate let scheduler: SimulationScheduler
    private let access: PlantedAccess

    init(_ base: MemoryStore, _ fault: PlantedFault, scheduler: SimulationScheduler) {
        self.base = base
        self.fault = fault
        self.scheduler = scheduler
        access = PlantedAccess(fault)
    }

    // MARK: Where faults are made

    func beginWrite(_ reads: [ZoneRead]) async throws(StorageError) -> any WriteTransaction {
        var old: [ZoneSnapshot]?
        if fault == .readBeforeLock {
            let early = try await base.beginWrite(reads)
            await early.rollback()
            old = early.snapshots
            await scheduler.pause()
        }
        let early = try await sharingBeforeLock(reads)
        let transaction = try await base.beginWrite(reads)
        var snapshots = old ?? transaction.snapshots
        for index in snapshots.indices { access.spoil(&snapshots[index], read: reads[index].sharing, early[index]) }
        if fault == .outcomesForgotten { for index in snapshots.indices { snapshots[index].memories = [:] } }
        if fault == .epochsUncounted { for index in snapshots.indices { snapshots[index].memoryEpoch = 1 } }
        return PlantedTransaction(transaction, snapshots: snapshots, fault: fault, storage: self)
    }

    /// What the shares of the zones are for participants, for those who do not wait for the locks.
    private func sharingBeforeLock(_ reads: [ZoneRead]) async throws(StorageError) -> [EarlySharing?] {
        var early: [EarlySharing?] = []
        for read in reads {
            guard fault == .accessReadBeforeLock, case .access = read.sharing else {
                early.append(nil)
                continue
            }
            let found = try await base.sharing(of: read.key, read.sharing)
            early.append(found.map { EarlySharing($0.zone.id, $0.sharing) })
        }
        if early.contains(where: { $0 != nil }) { await scheduler.pass(PlantedAccess.delay) }
        return early
    }

    /// What the shares of a zone are for a reader, if the data is read by itself; nil: it is not.
    private func sharingApart(
        of key: ZoneKey, _ read: SharingRead
    ) async throws(StorageError) -> EarlySharing? {
        guard fault == .accessReadBeforeData || fault == .invitationTakenForAcceptance, case .access = read else {
            return nil
        }
        guard let found = try await base.sharing(of: key, read) else { return nil }
        if fault == .accessReadBeforeData { await scheduler.pass(PlantedAccess.delay) }
        let spoilt = access.spoilt(found.sharing, read, of: found.zone.id, nil)
        return EarlySharing(found.zone.id, spoilt ?? found.sharing)
    }

    func commit(_ changes: [ZoneChanges], at moments: [ZoneMoment]) async throws(StorageError) {
        switch fault {
        case .answerBeforeCommit:
            scheduler.run { [base] in try? await base.commit(changes, at: moments) }
        case .knowledgeUnproven:
            try await commitUnproven(changes)
        case .lostAnswerTakenForSuccess, .lostAnswerTakenForFailure:
            do {
                try await base.commit(changes, at: moments)
            } catch  where error.code == .commitUnknown {
                if fault == .lostAnswerTakenForFailure { throw StorageError(.rejected) }
            }
        case .readBeforeLock, .outcomesForgotten, .batchInTwoTransactions:
            // These are made where a transaction begins.
            throw StorageError(.outdated)
        default:
            try await base.commit(changes, at: moments)
        }
    }

    func zonePage(_ query: ZonePageQuery) async throws(StorageError) -> StoreRead<ZonePageRead> {
        guard let apart = try await sharingApart(of: query.key, query.sharing) else {
            return try await spoilt(try await base.zonePage(query), of: query)
        }
        var page = try await base.zonePage(query.asOwner)
        page.sharing = page.zone?.id == apart.zone ? apart.sharing : nil
        return page
    }

    func inventory(
        of key: ZoneKey, _ listing: ZoneListing?
    ) async throws(StorageError) -> StoreRead<ZoneInventory?> {
        try await base.inventory(of: key, listing)
    }

    private func spoilt(
        _ page: StoreRead<ZonePageRead>, of query: ZonePageQuery
    ) async throws(StorageError) -> StoreRead<ZonePageRead> {
        var page = page
        switch fault {
        case .tokenOneTooFar:
            page.zone?.changeNumber += 1
        case .pageAndTokenFromTwoSnapshots:
            let later = try await base.zonePage(query)
            if later.zone?.id == page.zone?.id { page.zone = later.zone }
        case .batchesUnknown:
            page.records = page.records.map(\.onItsOwn)
        case .tombstonesLost:
            page.records.removeAll { $0.isDeleted }
            page.hasMore = page.hasMore && !page.records.isEmpty
        default: break
        }
        return page
    }

    func queryPage(
        _ query: QueryPageQuery, for turn: WorkTurn
    ) async throws(StorageError) -> StoreRead<QueryPageRead> {
        let key = query.query.zoneName.map { ZoneKey(database: query.database, name: $0) }
        guard let key, let apart = try await sharingApart(of: key, query.sharing) else {
            return try await base.queryPage(query, for: turn)
        }
        var page = try await base.queryPage(query.asOwner, for: turn)
        page.sharing = apart.sharing
        return page
    }

    func records(
        named names: [String], in key: ZoneKey, bytesMax: Int, sharing: SharingRead
    ) async throws(StorageError) -> ZoneSnapshot {
        guard let apart = try await sharingApart(of: key, sharing) else {
            return try await base.records(named: names, in: key, bytesMax: bytesMax, sharing: sharing)
        }
        var snapshot = try await base.records(named: names, in: key, bytesMax: bytesMax, sharing: .nothing)
        snapshot.sharing = snapshot.zone?.id == apart.zone ? apart.sharing : nil
        return snapshot
    }

    func databaseFeed(
        of viewer: DatabaseID, after: ChangeNumber?, entriesMax: Int, then query: ZonePageQuery?
    ) async throws(StorageError) -> (feed: StoreRead<DatabaseFeedRead>, page: StoreRead<ZonePageRead>?) {
        var apart: EarlySharing?
        if let query { apart = try await sharingApart(of: query.key, query.sharing) }
        var (feed, page) = try await base.databaseFeed(
            of: viewer, after: after, entriesMax: entriesMax, then: apart == nil ? query : query?.asOwner)
        if let apart, var read = page {
            read.sharing = read.zone?.id == apart.zone ? apart.sharing : nil
            page = read
        }
        switch fault {
        case .feedNeverBehind where after != nil: feed.unnumbered = []
        case .feedTokenOneTooFar: feed.head += 1
        case .accessEndsUntold: feed.value.leaveOutEndsOfAccess(for: viewer)
        case .returnTakenForChange: feed.value.leaveOutEndsOfLiving()
        case .feedAheadOneTooFar:
            feed.unnumbered = feed.unnumbered.map {
                DatabaseFeedEntry(
                    number: nil, zone: $0.zone, key: $0.key, changeNumber: $0.changeNumber + 1, removal: $0.removal)
            }
        default: break
        }
        if let query, let read = page { page = try await spoilt(read, of: query) }
        return (feed, page)
    }

    func advanceDatabaseFeed(
        of viewer: DatabaseID, after: ChangeNumber?, entriesMax: Int
    ) async throws(StorageError) -> StoreRead<DatabaseFeedRead> {
        var read = try await base.advanceDatabaseFeed(of: viewer, after: after, entriesMax: entriesMax)
        if fault == .feedTokenOneTooFar { read.head += 1 }
        if fault == .accessEndsUntold { read.value.leaveOutEndsOfAccess(for: viewer) }
        if fault == .returnTakenForChange { read.value.leaveOutEndsOfLiving() }
        return read
    }

    // MARK: Where none are made

    func schema(of container: ContainerID) async throws(StorageError) -> ContainerSchema {
        try await base.schema(of: container)
    }

    func schemaVersion(of container: ContainerID) async throws(StorageError) -> Int64 {
        try await base.schemaVersion(of: container)
    }

    func schemaRevision(of container: ContainerID) async throws(StorageError) -> SchemaRevision {
        try await base.schemaRevision(of: container)
    }

    func learn(_ lesson: SchemaLesson, in container: ContainerID) async throws(StorageError) -> ContainerSchema {
        try await base.learn(lesson, in: container)
    }

    func replaceSchema(_ current: ContainerSchema, by schema: Schema) async throws(StorageError) -> Bool {
        try await base.replaceSchema(current, by: schema)
    }

    func feedsEverywhere(in container: ContainerKey) async throws(StorageError) -> Bool {
        try await base.feedsEverywhere(in: container)
    }

    func setFeedsEverywhere(_ isOn: Bool, in container: ContainerKey) async throws(StorageError) -> Bool {
        try await base.setFeedsEverywhere(isOn, in: container)
    }

    func setQuota(_ quota: StorageQuota, of container: ContainerKey) async throws(StorageError) -> Bool {
        try await base.setQuota(quota, of: container)
    }

    func publicUse(of user: UserID, in database: DatabaseID) async throws(StorageError) -> StorageUse? {
        try await base.publicUse(of: user, in: database)
    }

    func setAccountQuota(_ bytesMax: Int64?, of account: AccountID?) async throws(StorageError) -> Bool {
        try await base.setAccountQuota(bytesMax, of: account)
    }

    func limits(of users: [UserID]) async throws(StorageError) -> [UserID: AccountLimits] {
        try await base.limits(of: users)
    }

    func setRequestRate(_ choice: RateChoice, of account: AccountID?) async throws(StorageError) -> Bool {
        try await base.setRequestRate(choice, of: account)
    }

    func setConnectionsMax(_ count: Int32?, of account: AccountID?) async throws(StorageError) -> Bool {
        try await base.setConnectionsMax(count, of: account)
    }

    func setRequestRate(_ choice: RateChoice, in container: ContainerKey) async throws(StorageError) -> Bool {
        try await base.setRequestRate(choice, in: container)
    }

    func storageUse(of database: DatabaseID) async throws(StorageError) -> StorageUse? {
        try await base.storageUse(of: database)
    }

    func roles(of users: [UserID]) async throws(StorageError) -> [UserID: Set<Role>] {
        try await base.roles(of: users)
    }

    func setRole(_ name: String, of user: UserID, isGiven: Bool) async throws(StorageError) -> Bool {
        try await base.setRole(name, of: user, isGiven: isGiven)
    }

    func standing() async throws(StorageError) -> StoreStanding { try await base.standing() }

    func advanceMemoryEpoch(after age: Duration, keeping kept: Int64) async throws(StorageError) -> Bool {
        try await base.advanceMemoryEpoch(after: age, keeping: kept)
    }

    func containers(
        credentialHash: [UInt8], environment: ContainerEnvironment, countMax: Int, now: Timestamp
    ) async throws(StorageError) -> [String] {
        try await base.containers(
            credentialHash: credentialHash, environment: environment, countMax: countMax, now: now)
    }

    func identity(
        credentialHash: [UInt8], container: String, environment: ContainerEnvironment, containersMax: Int,
        now: Timestamp
    ) async throws(StorageError) -> Identity? {
        try await base.identity(
            credentialHash: credentialHash, container: container, environment: environment,
            containersMax: containersMax, now: now)
    }

    func publicDatabase(of container: ContainerKey, now: Timestamp) async throws(StorageError) -> PublicDatabase? {
        try await base.publicDatabase(of: container, now: now)
    }

    func userRecordNames(of users: [UserID]) async throws(StorageError) -> [UserID: String] {
        try await base.userRecordNames(of: users)
    }

    func users(named names: [String], in container: ContainerKey) async throws(StorageError) -> [UserID: String] {
        try await base.users(named: names, in: container)
    }

    func persons(named names: [String], in container: ContainerKey) async throws(StorageError) -> [UserID: String] {
        try await base.persons(named: names, in: container)
    }

    func noteDevice(
        _ device: DeviceID, of account: AccountID, name: String, from address: String, atMost countMax: Int,
        now: Timestamp
    ) async throws(StorageError) -> Bool {
        try await base.noteDevice(device, of: account, name: name, from: address, atMost: countMax, now: now)
    }

    func signInProblem(
        credentialHash: [UInt8], device: DeviceID, now: Timestamp
    ) async throws(StorageError) -> SignInProblem {
        try await base.signInProblem(credentialHash: credentialHash, device: device, now: now)
    }

    func noteRefusedSignIn(
        credentialHash: [UInt8], device: DeviceID, from address: String, now: Timestamp
    ) async throws(StorageError) {
        try await base.noteRefusedSignIn(credentialHash: credentialHash, device: device, from: address, now: now)
    }

    func revokedDevices(of accounts: [AccountID]) async throws(StorageError) -> [AccountDevice] {
        try await base.revokedDevices(of: accounts)
    }

    func connectionClosings() async throws(StorageError) -> [ConnectionsClosing] {
        try await base.connectionClosings()
    }

    func closeContainer(_ container: ContainerKey) async throws(StorageError) -> ClosedContainer? {
        try await base.closeContainer(container)
    }

    func closedContainers(among containers: [ContainerID]) async throws(StorageError) -> [ContainerID] {
        try await base.closedContainers(among: containers)
    }

    func deviceProgress(of devices: [AccountDevice]) async throws(StorageError) -> [AccountDevice: NotedProgress] {
        try await base.deviceProgress(of: devices)
    }

    func keepProgress(
        _ progress: [AccountDevice: DeviceProgress], over noted: [AccountDevice: Timestamp], now: Timestamp
    ) async throws(StorageError) -> Set<AccountDevice> {
        try await base.keepProgress(progress, over: noted, now: now)
    }

    func voidCredentials(
        among credentials: [CredentialID], now: Timestamp
    ) async throws(StorageError) -> [CredentialID] {
        try await base.voidCredentials(among: credentials, now: now)
    }

    func beginZonesWrite(
        in database: DatabaseID, names: [String], life: DeviceID
    ) async throws(StorageError) -> any ZonesTransaction {
        try await base.beginZonesWrite(in: database, names: names, life: life)
    }

    func forgetTombstones(of database: DatabaseID) async throws(StorageError) {
        try await base.forgetTombstones(of: database)
    }

    func forgetEndedZones(of database: DatabaseID, keeping countMax: Int) async throws(StorageError) {
        try await base.forgetEndedZones(of: database, keeping: countMax)
    }

    func zones(
        in database: DatabaseID, after: ZoneID?, zonesMax: Int
    ) async throws(StorageError) -> [ZoneState] {
        try await base.zones(in: database, after: after, zonesMax: zonesMax)
    }

    func zones(named names: [String], in database: DatabaseID) async throws(StorageError) -> [ZoneState] {
        try await base.zones(named: names, in: database)
    }

    func removals(
        ofZones names: [String], in database: DatabaseID
    ) async throws(StorageError) -> [String: ZoneRemovalReason] {
        try await base.removals(ofZones: names, in: database)
    }

    func owners(named names: [String], in container: ContainerKey) async throws(StorageError) -> [String: ZoneOwner] {
        try await base.owners(named: names, in: container)
    }

    func owners(of databases: [DatabaseID]) async throws(StorageError) -> [DatabaseID: ZoneOwner] {
        try await base.owners(of: databases)
    }

    func sharings(
        of keys: [ZoneKey], _ read: SharingRead
    ) async throws(StorageError) -> [(zone: ZoneState, sharing: ZoneSharing)] {
        try await base.sharings(of: keys, read).map { zone, sharing in
            let spoilt = access.spoilt(sharing, read, of: zone.id, nil, isRemembered: true)
            return (zone: zone, sharing: spoilt ?? sharing)
        }
    }

    func shareAccess(
        of user: UserID, to key: ZoneKey
    ) async throws(StorageError) -> (zone: ZoneID, sharing: ZoneSharing)? {
        try await base.shareAccess(of: user, to: key).map { zone, sharing in
            let spoilt = access.spoilt(sharing, .access(of: [user]), of: zone, nil, isRemembered: true)
            return (zone: zone, sharing: spoilt ?? sharing)
        }
    }

    func linkedZones(
        secretHashes: [[UInt8]], for viewer: DatabaseID
    ) async throws(StorageError) -> [[UInt8]: ZoneKey] {
        try await base.linkedZones(secretHashes: secretHashes, for: viewer)
    }

    func pointLink(
        secretHash: [UInt8], to key: ZoneKey, root: String?, atMost countMax: Int
    ) async throws(StorageError) -> ZoneID? {
        try await base.pointLink(secretHash: secretHash, to: key, root: root, atMost: countMax)
    }

    func pointViewer(
        _ viewer: DatabaseID, to key: ZoneKey, atMost countMax: Int
    ) async throws(StorageError) -> PointedViewer {
        guard fault == .pointerAfterAcceptance else {
            return try await base.pointViewer(viewer, to: key, atMost: countMax)
        }
        scheduler.run { [base, scheduler] in
            await scheduler.pass(.seconds(3))
            _ = try? await base.pointViewer(viewer, to: key, atMost: countMax)
        }
        return .done
    }

    func sharedZones(
        of viewer: DatabaseID, for user: UserID, after: ZoneID?, zonesMax: Int
    ) async throws(StorageError) -> [ZoneState] {
        try await base.sharedZones(of: viewer, for: user, after: after, zonesMax: zonesMax)
    }

    func addresses(of user: UserID) async throws(StorageError) -> Set<String> {
        if fault == .addressOfEverybody { return Set(PeopleRun.addresses.keys) }
        return try await base.addresses(of: user)
    }

    func users(
        withAddresses addresses: [String], in container: ContainerKey
    ) async throws(StorageError) -> [String: UserID] {
        try await base.users(withAddresses: addresses, in: container)
    }

    func accountKey(of user: UserID) async throws(StorageError) -> StoredAccountKey {
        try await base.accountKey(of: user)
    }

    func saveAccountKey(
        _ key: StoredAccountKey, of user: UserID, masterKeyCheck: [UInt8], now: Timestamp
    ) async throws(StorageError) -> StoredAccountKey {
        try await base.saveAccountKey(key, of: user, masterKeyCheck: masterKeyCheck, now: now)
    }

    func claimMasterKey(check: [UInt8]) async throws(StorageError) -> Bool {
        try await base.claimMasterKey(check: check)
    }

    func zoneKeys(
        of zones: [ZoneKey], keysMax: Int, sharing: SharingRead
    ) async throws(StorageError) -> [ZoneKeysRead] {
        try await base.zoneKeys(of: zones, keysMax: keysMax, sharing: sharing)
    }

    func saveZoneKey(
        _ key: WrappedZoneKey, in zone: ZoneKey, after newest: [UInt8]?, atMost countMax: Int, rowsMax: Int,
        now: Timestamp
    ) async throws(StorageError) -> ZoneKeysRead {
        try await base.saveZoneKey(key, in: zone, after: newest, atMost: countMax, rowsMax: rowsMax, now: now)
    }

    func retireZoneKeys(in zone: ZoneKey, before id: [UInt8]) async throws(StorageError) {
        try await base.retireZoneKeys(in: zone, before: id)
    }

    func keepAsset(
        _ asset: AssetKey, from sender: UserID?, now: Timestamp, ifFull remove: @Sendable () async -> Void
    ) async throws(StorageError) -> Bool {
        try await base.keepAsset(asset, from: sender, now: now, ifFull: remove)
    }

    func assetClaims(of asset: AssetKey, by user: UserID) async throws(StorageError) -> AssetClaims {
        try await base.assetClaims(of: asset, by: user)
    }

    func forgetSenders(before deadline: Timestamp) async throws(StorageError) {
        try await base.forgetSenders(before: deadline)
    }

    func adoptAssets(_ assets: [AssetKey], now: Timestamp) async throws(StorageError) -> Int {
        try await base.adoptAssets(assets, now: now)
    }

    func unusedAssets(
        touchedBefore deadline: Timestamp, after last: AssetKey?, among countMax: Int
    ) async throws(StorageError) -> (unused: [AssetKey], last: AssetKey?) {
        try await base.unusedAssets(touchedBefore: deadline, after: last, among: countMax)
    }

    func forgetAsset(
        _ asset: AssetKey, touchedBefore deadline: Timestamp, remove: @Sendable () async -> Bool
    ) async throws(StorageError) -> Bool {
        try await base.forgetAsset(asset, touchedBefore: deadline, remove: remove)
    }

    func post(_ notices: [ServerNotice]) async throws(StorageError) { try await base.post(notices) }

    func changeMarks(of databases: [DatabaseID]) async throws(StorageError) -> [DatabaseID: ChangeMark] {
        try await base.changeMarks(of: databases)
    }

    func sharedMarks(
        of viewers: [DatabaseID: UserID]
    ) async throws(StorageError) -> [DatabaseID: ChangeMark] {
        try await base.sharedMarks(of: viewers)
    }

    /// Commits whatever the zones hold now.
    private func commitUnproven(_ changes: [ZoneChanges]) async throws(StorageError) {
        var reads: [ZoneRead] = []
        for change in changes {
            let zones = try await base.zones(in: change.database, after: nil, zonesMax: .max)
            guard let zone = zones.first(where: { $0.id == change.zone }) else {
                throw StorageError(.outdated)
            }
            reads.append(ZoneRead(key: zone.key, recordNames: [], parentNames: [], lives: []))
        }
        try await base.beginWrite(reads).commit(changes)
    }

    /// Commits the first half of the records, and then the second in another transaction.
    fileprivate func commitInHalves(
        _ changes: [ZoneChanges], _ transaction: any WriteTransaction
    ) async throws(StorageError) {
        let halves = changes.map { $0.halves }
        try await transaction.commit(halves.map(\.0))
        let reads = changes.map { change in
            ZoneRead(
                key: transaction.snapshots.first { $0.zone?.id == change.zone }?.key
                    ?? ZoneKey(database: change.database, name: ""), recordNames: [], parentNames: [], lives: [])
        }
        let second = try await base.beginWrite(reads)
        try await second.commit(halves.map(\.1))
    }
}

/// See ``PlantedStorage``.
private final class PlantedTransaction: WriteTransaction {
    let snapshots: [ZoneSnapshot]
    var store: StoreIncarnation { base.store }
    private let base: any WriteTransaction
    private let fault: PlantedFault
    private let storage: PlantedStorage

    init(
        _ base: any WriteTransaction, snapshots: [ZoneSnapshot], fault: PlantedFault, storage: PlantedStorage
    ) {
        self.base = base
        self.snapshots = snapshots
        self.fault = fault
        self.storage = storage
    }

    func commit(_ changes: [ZoneChanges]) async throws(StorageError) {
        switch fault {
        case .answerBeforeCommit:
            storage.scheduler.run { [base] in try? await base.commit(changes) }
        case .batchInTwoTransactions:
            try await storage.commitInHalves(changes, base)
        case .lostAnswerTakenForSuccess, .lostAnswerTakenForFailure:
            do {
                try await base.commit(changes)
            } catch  where error.code == .commitUnknown {
                if fault == .lostAnswerTakenForFailure { throw StorageError(.rejected) }
            }
        case .shareChangeUncounted:
            try await base.commit(changes.map(\.withoutShareRecord))
        case .removalForgotten:
            try await base.commit(changes.map(\.removingNobody))
        case .linkTakenTwice:
            try await base.commit(changes.map(\.leavingLinks))
        case .administratorKept:
            let before = base.snapshots.first { $0.sharing != nil }?.sharing
            try await base.commit(changes.map { $0.keepingAdministrators(of: before) })
        default:
            try await base.commit(changes)
        }
    }

    func rollback() async {
        await base.rollback()
    }
}
