// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
package import TidemarkFairness
internal import TidemarkFields
internal import TidemarkScheduling

extension CloudService {
    /// Creates a user record when a caller first asks for it: without fields, in a default zone.
    ///
    /// No caller waits for its success. If it fails, the fetch that follows finds no record.
    ///
    /// - Parameters:
    ///   - name: the user's record name.
    ///   - database: the user's private database, or the container's public one.
    ///   - owner: whose share of the write queue it takes.
    package func makeUserRecord(
        named name: String, in database: DatabaseID, by access: RecordAccess, for owner: WorkOwner
    ) async {
        guard let user = access.user, RecordName.isUser(name) else { return }
        let key = ZoneKey(database: database, name: ZoneName.default)
        let found = await retry.run { () async throws(StorageError) -> Result<Bool, FailureReason> in
            let record = try await storage.records(named: [name], in: key, bytesMax: 0, sharing: .nothing)
                .records[name]
            return .success(record.map { !$0.isDeleted } ?? false)
        }
        guard case .success(false) = found else { return }
        let save = RecordSave(
            name: name, type: RecordType.users, tag: nil, fields: FieldMap(), parent: .unchanged, isOwnUser: true)
        // A random device that no client is, so that nobody can have used its requests up. If several servers do this
        // at once, the first creates the record and the others find it.
        let device = DeviceID(high: scheduler.randomBits(), low: scheduler.randomBits())
        let request = RecordsRequest(
            id: RequestID(device: device, counter: 1, lowestUnanswered: 1), key: key, saves: [save],
            deletes: [], policy: .ifServerRecordUnchanged, isAtomic: false, user: user, access: access)
        _ = await modifyRecords([request], for: owner)
    }
}
