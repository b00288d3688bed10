// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain

extension CloudService {
    /// Creates and deletes zones. Each has its own result. One database's requests are carried out in the order
    /// of these calls.
    package func modifyZones(
        in database: DatabaseID, _ request: ZonesRequest
    ) async -> Result<ZonesOutcome, FailureReason> {
        if let reason = request.refusal(within: limits) { return .failure(reason) }
        return await zonesWriter.submit(request, in: database).value()
    }
}
