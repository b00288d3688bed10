// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain

extension CloudService {
    /// A mark of each database that differs from the last one if anything changed there: what the sweep compares to repair
    /// lost hints (I-4).
    package func changeMarks(of databases: [DatabaseID]) async -> Result<[DatabaseID: Int64], FailureReason> {
        await retry.run { () async throws(StorageError) in
            .success(try await storage.changeMarks(of: databases))
        }
    }

    /// Tells the other servers. A hint: a failure is told, and nothing is tried again (I-4).
    package func post(_ notices: [ServerNotice]) async -> Result<Void, FailureReason> {
        do {
            return .success(try await storage.post(notices))
        } catch {
            return .failure(error.code.reason)
        }
    }
}
