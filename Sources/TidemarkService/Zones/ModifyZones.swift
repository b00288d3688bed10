// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
package import TidemarkFairness

extension CloudService {
    /// Creates and deletes zones. Each has its own result. One database's requests are carried out in the order
    /// of these calls.
    ///
    /// - Parameters:
    ///   - owner: whose share of the room the request takes.
    ///   - asker: the client that waits. Work that was not started when it leaves is not carried out.
    package func modifyZones(
        in database: DatabaseID, _ request: ZonesRequest, for owner: WorkOwner, askedBy asker: Asker = Asker()
    ) async -> Result<ZonesOutcome, FailureReason> {
        if let reason = request.refusal(within: limits) { return .failure(reason) }
        let wait = storeWatch?.begin()
        defer { wait?.end() }
        return await zonesWriter.submit(request, in: database, for: owner, askedBy: asker).value()
    }
}
