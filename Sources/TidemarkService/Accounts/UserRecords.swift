// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
internal import TidemarkFields
internal import TidemarkScheduling

extension CloudService {
    /// Makes the user record of whoever asks for it for the first time: without fields, in a default zone.
    ///
    /// Nobody waits for its success: if it could not be made, the fetch that follows says that there is none.
    ///
    /// - Parameters:
    ///   - name: the user's record name.
    ///   - database: the user's private database, or the container's public one.
    package func makeUserRecord(named name: String, in database: DatabaseID, by access: RecordAccess) async {
        guard let user = access.user, RecordName.isUser(name) else { return }
        let key = ZoneKey(database: database, name: ZoneName.default)
        let found = await retry.run { () async throws(StorageError) -> Result<Bool, FailureReason> in
            let record = try await storage.records(named: [name], in: key).records[name]
            return .success(record.map { !$0.isDeleted } ?? false)
        }
        guard case .success(false) = found else { return }
        let save = RecordSave(
            name: name, type: RecordType.users, tag: nil, fields: FieldMap(), parent: .unchanged, isOwnUser: true)
        // A device that no client is, and another each time: nobody can have used its requests up. Of servers that do so at
        // once the first one makes it, the others find it made.
        let device = DeviceID(high: scheduler.randomBits(), low: scheduler.randomBits())
        let request = RecordsRequest(
            id: RequestID(device: device, counter: 1, lowestUnanswered: 1), zoneName: ZoneName.default,
            saves: [save], deletes: [], policy: .ifServerRecordUnchanged, isAtomic: false, user: user, access: access)
        _ = await modifyRecords(in: database, [request])
    }
}
