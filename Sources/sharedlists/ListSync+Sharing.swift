// SPDX-License-Identifier: Apache-2.0

import CloudKit

/// Who takes part in a list. The server is asked each time, and the engines bring what others change.
extension ListSync {
    // MARK: The owner

    /// Lets everybody in who has the link. Anew: changes what they may do.
    ///
    /// - Returns: the link, which stays the same.
    func share(_ name: String, _ permission: CKShare.ParticipantPermission) async throws -> String {
        try await changeShare(of: name) { $0.publicPermission = permission }
    }

    /// Lets one person in: by an e-mail address, a telephone number with +, or the name of their user record.
    func invite(_ person: String, to name: String) async throws -> String {
        let participant = try await lookUp(person)
        participant.permission = .readWrite
        return try await changeShare(of: name) { $0.addParticipant(participant) }
    }

    private func lookUp(_ person: String) async throws -> CKShare.Participant {
        if person.contains("@") { return try await container.shareParticipant(forEmailAddress: person) }
        if person.hasPrefix("+") { return try await container.shareParticipant(forPhoneNumber: person) }
        return try await container.shareParticipant(forUserRecordID: CKRecord.ID(recordName: person))
    }

    func remove(_ person: String, from name: String) async throws {
        _ = try await changeShare(of: name) { share in
            let found = share.participants.filter { $0.names.contains(person) }
            guard let participant = found.first, found.count == 1 else { throw ListsError.memberUnknown(person) }
            share.removeParticipant(participant)
        }
    }

    /// Somebody may accept, leave or change something between the fetch and the save.
    private static let attemptsMax = 5

    private func changeShare(
        of name: String, _ change: @Sendable (CKShare) throws -> Void
    ) async throws -> String {
        let list = try ownList(name)
        for attempt in 1... {
            do {
                let share = try await changeShareOnce(of: list, change)
                guard let link = share.url?.absoluteString else { throw ListsError.noLink(list.fields.text) }
                return link
            } catch let error as CKError
                where attempt < Self.attemptsMax
                && [.serverRecordChanged, .batchRequestFailed, .unknownItem].contains(error.code)
            {
                continue
            }
        }
        throw ListsError.notSettled
    }

    private func changeShareOnce(
        of list: ListEntry, _ change: @Sendable (CKShare) throws -> Void
    ) async throws -> CKShare {
        let database = container.privateCloudDatabase
        let root = try await root(of: list, in: database)
        var records = [root]
        let share: CKShare
        if let shareID = root.share?.recordID {
            guard let found = try await database.record(for: shareID) as? CKShare else { throw CKError(.unknownItem) }
            share = found
            records = []
        } else {
            // From now on `root.share` names the share. Both are saved, or neither is.
            share = CKShare(rootRecord: root)
            share[CKShare.SystemFieldKey.title] = list.fields.text
        }
        try change(share)
        records.append(share)
        // A root and its new share are saved together in any case. So each result says why.
        let results = try await database.modifyRecords(saving: records, deleting: [], atomically: false).saveResults
        var failures: [CKError] = []
        for case .failure(let error as CKError) in results.values { failures.append(error) }
        if let failure = failures.first(where: { $0.code != .batchRequestFailed }) ?? failures.first { throw failure }
        for case .success(let saved) in results.values { take(saved) }
        show()
        return share
    }

    private func root(of list: ListEntry, in database: CKDatabase) async throws -> CKRecord {
        do {
            return try await database.record(for: list.id)
        } catch let error as CKError where error.code == .unknownItem || error.code == .zoneNotFound {
            throw ListsError.notSent(list.fields.text)
        }
    }

    /// Ends the sharing for everybody else. The list stays.
    func stopSharing(_ name: String) async throws {
        let list = try ownList(name)
        let database = container.privateCloudDatabase
        guard let shareID = try await root(of: list, in: database).share?.recordID else {
            throw ListsError.notShared(list.fields.text)
        }
        try await database.deleteRecord(withID: shareID)
        store.removeShare(shareID)
        // That was a change of the list's record, too.
        take(try await root(of: list, in: database))
        show()
    }

    private func ownList(_ name: String) throws -> ListEntry {
        let list = try find(name, .list)
        guard list.isMine else { throw ListsError.notOwner(list.fields.text) }
        return list
    }

    // MARK: Everybody else

    /// Joins the list to which a link leads. All devices of the account have it then.
    func join(_ link: String) async throws {
        guard let url = URL(string: link) else { throw ListsError.linkInvalid(link) }
        let metadata = try await container.shareMetadata(for: url)
        guard let rootID = metadata.hierarchicalRootRecordID else { throw ListsError.linkInvalid(link) }
        guard metadata.participantRole != .owner else {
            let own = CKRecord.ID(recordName: rootID.recordName, zoneID: .lists())
            throw ListsError.ownList(store[own]?.fields.text ?? link)
        }
        try await container.accept(metadata)
    }

    /// Gives a list of somebody else up. It stays with its owner and all others.
    func leave(_ name: String) async throws {
        let list = try find(name, .list)
        guard !list.isMine else { throw ListsError.ownList(list.fields.text) }
        guard let shareID = list.shareID else { throw ListsError.notShared(list.fields.text) }
        try await container.sharedCloudDatabase.deleteRecord(withID: shareID)
    }

    /// The name of this account's user record, by which others invite it.
    func me() async throws -> String { try await container.userRecordID().recordName }
}
