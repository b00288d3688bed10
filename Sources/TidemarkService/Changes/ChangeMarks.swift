// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain

extension CloudService {
    /// A mark for each private database, which changes whenever anything in the database does. The sweep compares marks to make
    /// up for lost hints (I-4).
    package func changeMarks(of databases: [DatabaseID]) async -> Result<[DatabaseID: ChangeMark], FailureReason> {
        await retry.run { () async throws(StorageError) in
            .success(try await storage.changeMarks(of: databases))
        }
    }

    /// The same for shared databases, each with its user. The mark changes whenever a zone that the user sees changes, and
    /// whenever the user sees other zones.
    package func sharedMarks(
        of viewers: [DatabaseID: UserID]
    ) async -> Result<[DatabaseID: ChangeMark], FailureReason> {
        await retry.run { () async throws(StorageError) in
            .success(try await storage.sharedMarks(of: viewers))
        }
    }

    /// Sends notices to the other servers. They are hints: a failure is returned, and nothing is tried again (I-4).
    package func post(_ notices: [ServerNotice]) async -> Result<Void, FailureReason> {
        do {
            return .success(try await storage.post(notices))
        } catch {
            error.note(request: nil)
            return .failure(error.code.reason)
        }
    }
}
