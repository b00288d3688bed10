// SPDX-License-Identifier: Apache-2.0

import CloudKit

/// The code of the article *Sharing*.
struct ListItem: Sendable {
    var text: String
    var editedAt = Date()
}

extension ListItem {
    init(_ record: CKRecord) {
        text = record["text"] ?? ""
        editedAt = record["editedAt"] ?? .distantPast
    }

    func fill(_ record: CKRecord) {
        record["text"] = text
        record["editedAt"] = editedAt
    }
}

actor ShoppingLists: TidemarkSyncEngineDelegate {
    private(set) var items: [CKRecord.ID: ListItem] = [:]
    private(set) var shares: [CKRecordZone.ID: CKShare] = [:]
    private(set) var problems: [String: String] = [:]
    private let container: CKContainer
    private let replicas = [CKDatabase.Scope.private: TidemarkReplica(), .shared: TidemarkReplica()]
    private var engines: [CKDatabase.Scope: CKSyncEngine] = [:]
    private let rules = TidemarkMerge(.newest(by: "editedAt"))

    init(container: CKContainer) {
        self.container = container
    }

    func start() {
        for database in [container.privateCloudDatabase, container.sharedCloudDatabase] {
            let replica = replicas[database.databaseScope]
            let engine = CKSyncEngine(
                CKSyncEngine.Configuration(
                    database: database, stateSerialization: replica?.engineState, delegate: self))
            replica?.begin(engine)
            engines[database.databaseScope] = engine
        }
    }

    func write(_ text: String, as name: String, in list: CKRecordZone.ID) {
        let id = CKRecord.ID(recordName: name, zoneID: list)
        items[id] = ListItem(text: text)
        let scope = scope(of: list)
        replicas[scope]?.edited(id, as: "Item", engines[scope])
    }

    func mayWrite(in list: CKRecordZone.ID) -> Bool {
        scope(of: list) == .private || shares[list]?.currentUserParticipant?.permission == .readWrite
    }

    private func scope(of list: CKRecordZone.ID) -> CKDatabase.Scope {
        list.ownerName == CKCurrentUserDefaultName ? .private : .shared
    }

    func share(_ list: CKRecordZone.ID, with addresses: [String]) async throws -> URL? {
        let share = try await share(of: list)
        for address in addresses {
            let person = try await container.shareParticipant(forEmailAddress: address)
            person.permission = .readWrite
            share.addParticipant(person)
        }
        return try await save(share)
    }

    func publish(_ list: CKRecordZone.ID, _ permission: CKShare.ParticipantPermission) async throws -> URL? {
        let share = try await share(of: list)
        share.publicPermission = permission
        return try await save(share)
    }

    private func share(of list: CKRecordZone.ID) async throws -> CKShare {
        if let share = shares[list] { return share }
        let database = container.privateCloudDatabase
        let id = CKRecord.ID(recordName: CKRecordNameZoneWideShare, zoneID: list)
        do {
            if let share = try await database.record(for: id) as? CKShare { return share }
        } catch CKError.zoneNotFound {
            try await database.save(CKRecordZone(zoneID: list))
        } catch CKError.unknownItem {}
        let share = CKShare(recordZoneID: list)
        share[CKShare.SystemFieldKey.title] = list.zoneName
        return share
    }

    private func save(_ share: CKShare) async throws -> URL? {
        let saved = try await container.privateCloudDatabase.save(share) as? CKShare
        shares[share.recordID.zoneID] = saved
        return saved?.url
    }

    func inviteOnce(to list: CKRecordZone.ID) async throws -> URL? {
        let share = try await share(of: list)
        let person = CKShare.Participant.oneTimeURLParticipant()
        person.permission = .readWrite
        share.addParticipant(person)
        _ = try await save(share)
        return shares[list]?.oneTimeURL(for: person.participantID)
    }

    func allowRequests(for list: CKRecordZone.ID) async throws -> URL? {
        let share = try await share(of: list)
        share.allowsAccessRequests = true
        return try await save(share)
    }

    func answerRequests(for list: CKRecordZone.ID, letting isWelcome: @Sendable (CKUserIdentity) -> Bool) async throws {
        let share = try await share(of: list)
        for requester in share.requesters {
            if isWelcome(requester.userIdentity), let user = requester.participantLookupInfo.userRecordID {
                let person = try await container.shareParticipant(forUserRecordID: user)
                person.permission = .readWrite
                share.addParticipant(person)
            } else {
                share.denyRequesters([requester])
            }
        }
        _ = try await save(share)
    }

    func ask(_ url: URL) async throws {
        _ = try await container.requestShareAccess(for: [url])[url]?.get()
    }

    func join(_ url: URL) async throws -> CKRecordZone.ID {
        let metadata = try await container.shareMetadata(for: url)
        let share = try await container.accept(metadata)
        shares[share.recordID.zoneID] = share
        return share.recordID.zoneID
    }

    func people(in list: CKRecordZone.ID) -> [String] {
        (shares[list]?.participants ?? []).map { person in
            let name = person.userIdentity.nameComponents
            let parts = [name?.givenName, name?.familyName].compactMap { $0 }
            return parts.isEmpty ? person.userIdentity.lookupInfo?.emailAddress ?? "?" : parts.joined(separator: " ")
        }
    }

    func remove(_ person: CKShare.Participant, from list: CKRecordZone.ID) async throws {
        guard let share = shares[list] else { return }
        share.removeParticipant(person)
        _ = try await save(share)
    }

    func stopSharing(_ list: CKRecordZone.ID) async throws {
        let id = CKRecord.ID(recordName: CKRecordNameZoneWideShare, zoneID: list)
        try await container.privateCloudDatabase.deleteRecord(withID: id)
        shares[list] = nil
    }

    func leave(_ list: CKRecordZone.ID) async throws {
        try await container.sharedCloudDatabase.deleteRecordZone(withID: list)
    }

    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? {
        let replica = replicas[syncEngine.database.databaseScope]
        return await replica?.nextBatch(context, syncEngine) { record in await self.fill(record) }
    }

    private func fill(_ record: CKRecord) -> Bool {
        guard let item = items[record.recordID] else { return false }
        item.fill(record)
        return true
    }

    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
        guard let replica = replicas[syncEngine.database.databaseScope] else { return }
        let steps = replica.steps(after: event, syncEngine, merging: rules, write: { fill($0) })
        for step in steps { carryOut(step, replica, syncEngine) }
    }

    func handleStoreEvent(_ event: TidemarkStoreEvent, syncEngine: CKSyncEngine) async {
        replicas[syncEngine.database.databaseScope]?.take(event, syncEngine)
    }

    private func carryOut(_ step: TidemarkReplica.Step, _ replica: TidemarkReplica, _ engine: CKSyncEngine) {
        switch step {
        case .store(let record):
            if let share = record as? CKShare {
                shares[share.recordID.zoneID] = share
            } else {
                items[record.recordID] = ListItem(record)
            }
        case .remove(let id):
            items[id] = nil
            if id.recordName == CKRecordNameZoneWideShare { shares[id.zoneID] = nil }
        case .removeAll:
            let scope = engine.database.databaseScope
            items = items.filter { self.scope(of: $0.key.zoneID) != scope }
            shares = shares.filter { self.scope(of: $0.key) != scope }
        case .zoneDeleted(let list, _, let unsent):
            shares[list] = nil
            guard scope(of: list) == .shared else { return replica.send(unsent, engine) }
            problems[list.zoneName] = "not shared with you any more"
            for step in replica.discard(unsent, engine) { carryOut(step, replica, engine) }
        case .refused(let id, let error):
            problems[id.recordName] = error.localizedDescription
            guard error.code == .permissionFailure else { return }
            for step in replica.discard([id], engine) { carryOut(step, replica, engine) }
        case .zoneRefused(let list, let error):
            problems[list.zoneName] = error.localizedDescription
        }
    }
}
