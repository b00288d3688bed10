// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
package import TidemarkShares

extension CloudService {
    /// Creates and deletes zones. Each has its own result. One database's requests are carried out in the order
    /// of these calls.
    ///
    /// - Parameter owner: whose share of the room the request takes.
    package func modifyZones(
        in database: DatabaseID, _ request: ZonesRequest, for owner: ShareOwner
    ) async -> Result<ZonesOutcome, FailureReason> {
        if let reason = request.refusal(within: limits) { return .failure(reason) }
        return await zonesWriter.submit(request, in: database, for: owner).value()
    }
}
