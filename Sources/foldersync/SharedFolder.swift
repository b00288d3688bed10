// SPDX-License-Identifier: Apache-2.0

import CloudKit

/// The share of a folder: who may see it, as this account may know.
struct SharedFolder {
    let place: FolderPlace
    /// A directory in the folder that is shared by itself; nil: the whole folder.
    let subfolder: RelativePath?
    let container: CKContainer

    init(_ place: FolderPlace, _ subfolder: RelativePath? = nil, in container: CKContainer = .default()) {
        self.place = place
        self.subfolder = subfolder
        self.container = container
    }

    private var database: CKDatabase { place.database(of: container) }

    /// The name of the share's record; nil if the subfolder is not shared.
    private func shareID() async throws -> CKRecord.ID? {
        guard let subfolder else { return CKRecord.ID(recordName: CKRecordNameZoneWideShare, zoneID: place.zoneID) }
        return try await database.record(for: SubfolderRecord.id(of: subfolder, in: place.zoneID)).share?.recordID
    }

    /// The share; nil if nobody else takes part.
    func share() async throws -> CKShare? {
        do {
            guard let shareID = try await shareID() else { return nil }
            return try await database.record(for: shareID) as? CKShare
        } catch let error as CKError where error.code == .zoneNotFound && place.isShared {
            throw FolderSyncError.notShared(place.zoneName)
        } catch let error as CKError where error.code == .unknownItem || error.code == .zoneNotFound {
            return nil
        }
    }

    /// Somebody may accept, leave or change the share between the fetch and the save.
    private static let attemptsMax = 5

    /// Changes the share, and makes it first if there is none.
    ///
    /// - Parameter change: is called again if somebody else was first.
    /// - Returns: the share with its link.
    func change(_ change: (CKShare) async throws -> Void) async throws -> CKShare {
        for _ in 1..<Self.attemptsMax {
            do {
                return try await changeOnce(change)
            } catch let error as CKError where error.code == .serverRecordChanged {
                continue
            }
        }
        return try await changeOnce(change)
    }

    private func changeOnce(_ change: (CKShare) async throws -> Void) async throws -> CKShare {
        let found = try await share()
        var records: [CKRecord] = []
        if found == nil, let subfolder { records = try await makeRoot(subfolder) }
        let share: CKShare
        if let found {
            share = found
        } else if let root = records.first {
            share = CKShare(rootRecord: root)
        } else {
            share = try await makeShare()
        }
        if found == nil, let subfolder { share[CKShare.SystemFieldKey.title] = subfolder.text }
        try await change(share)
        records.append(share)
        do {
            _ = try await database.modifyRecords(saving: records, deleting: [])
        } catch let error as CKError where error.code == .partialFailure {
            // Of several that fail together, one says why.
            let errors = (error.partialErrorsByItemID ?? [:]).values.compactMap { $0 as? CKError }
            throw errors.first { $0.code != .batchRequestFailed } ?? error
        }
        // As everybody sees it now, with the link.
        guard let saved = try await self.share() else { throw FolderSyncError.notSharedYet }
        return saved
    }

    /// A share of the whole zone, which is made if there is none.
    private func makeShare() async throws -> CKShare {
        try await database.save(CKRecordZone(zoneID: place.zoneID))
        let share = CKShare(recordZoneID: place.zoneID)
        share[CKShare.SystemFieldKey.title] = place.zoneName
        return share
    }

    /// The record of the subfolder, first, and all that must be saved with it.
    ///
    /// Its parent is the subfolder around it, and it becomes the parent of those in it. If one of these is shared, the server
    /// refuses: what is shared by itself is not shared a second time.
    private func makeRoot(_ subfolder: RelativePath) async throws -> [CKRecord] {
        guard !place.isShared else { throw FolderSyncError.notOwner(place.zoneName) }
        try await database.save(CKRecordZone(zoneID: place.zoneID))
        var others = try await subfolders()
        let id = SubfolderRecord.id(of: subfolder, in: place.zoneID)
        let root = others.removeValue(forKey: subfolder) ?? SubfolderRecord.make(subfolder, in: place.zoneID)
        let around = subfolder.directories.last { others[$0] != nil }
        root.setParent(around.flatMap { others[$0]?.recordID })
        let inside = others.filter { path, _ in
            path.directories.last { $0 == subfolder || others[$0] != nil } == subfolder
        }
        for record in inside.values { record.setParent(id) }
        return [root] + inside.values
    }

    /// The directories that have records. All records of the zone are listed, without what is in the files: a query would need an
    /// index that an operator may not have made.
    private func subfolders() async throws -> [RelativePath: CKRecord] {
        var found: [RelativePath: CKRecord] = [:]
        var token: CKServerChangeToken?
        while true {
            let page = try await database.recordZoneChanges(
                inZoneWith: place.zoneID, since: token, desiredKeys: ["path"])
            for case .success(let change) in page.modificationResultsByID.values {
                if let path = SubfolderRecord.path(of: change.record) { found[path] = change.record }
            }
            token = page.changeToken
            guard page.moreComing else { return found }
        }
    }

    /// Ends the share for everybody. The files stay, also those of the others.
    func end() async throws {
        guard !place.isShared else { throw FolderSyncError.notOwner(place.zoneName) }
        let shareID = try await subfolder == nil ? self.shareID() : share()?.recordID
        guard let shareID else { throw FolderSyncError.notSharedYet }
        try await database.deleteRecord(withID: shareID)
    }

    /// Gives the folder up for this account, or one of several subfolders. Its owner and all others keep it.
    func leave() async throws {
        guard place.isShared else { throw FolderSyncError.ownFolder(place.zoneName) }
        guard subfolder != nil else {
            _ = try await database.deleteRecordZone(withID: place.zoneID)
            return
        }
        guard let shareID = try await share()?.recordID else { throw FolderSyncError.notSharedYet }
        try await database.deleteRecord(withID: shareID)
    }

    // MARK: Joining

    /// Joins the share to which a link leads.
    ///
    /// - Parameters:
    ///   - known: the place of the folder at its last sync. It cannot become another one.
    ///   - rejoins: is called before, if the folder is known and this account takes no part now.
    static func accept(
        _ link: String, known: FolderPlace?, in container: CKContainer = .default(),
        rejoins: (FolderPlace) throws -> Void
    ) async throws -> FolderPlace {
        guard let url = URL(string: link) else { throw FolderSyncError.linkInvalid(link) }
        let metadata = try await container.shareMetadata(for: url)
        let zoneID = metadata.share.recordID.zoneID
        guard metadata.participantRole != .owner else { throw FolderSyncError.ownFolder(zoneID.zoneName) }
        let place = FolderPlace(zoneName: zoneID.zoneName, owner: zoneID.ownerName)
        if let known, known != place { throw FolderSyncError.otherZone(known.zoneName) }
        if known != nil, metadata.participantStatus != .accepted { try rejoins(place) }
        _ = try await container.accept(metadata)
        return place
    }

    // MARK: People

    /// A person to invite, by an e-mail address, a telephone number with its country, or a user record's name.
    func person(named name: String) async throws -> CKShare.Participant {
        if name.contains("@") { return try await container.shareParticipant(forEmailAddress: name) }
        if name.hasPrefix("+") { return try await container.shareParticipant(forPhoneNumber: name) }
        return try await container.shareParticipant(forUserRecordID: CKRecord.ID(recordName: name))
    }

    /// The one participant with that name, address or ID.
    static func participant(named name: String, of share: CKShare) throws -> CKShare.Participant {
        let found = share.participants.filter { $0.names.contains(name) }
        guard let first = found.first else { throw FolderSyncError.memberUnknown(name) }
        guard found.count == 1 else { throw FolderSyncError.memberAmbiguous(name) }
        return first
    }
}

extension CKShare.Participant {
    /// All by which a command can name the person.
    var names: [String] {
        let identity = userIdentity
        let isCurrentUser = identity.userRecordID?.recordName == CKCurrentUserDefaultName
        return [
            identity.lookupInfo?.emailAddress, identity.lookupInfo?.phoneNumber,
            isCurrentUser ? nil : identity.userRecordID?.recordName, participantID,
        ].compactMap { $0 }.filter { !$0.isEmpty }
    }
}
