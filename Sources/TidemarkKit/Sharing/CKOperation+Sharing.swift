// SPDX-License-Identifier: Apache-2.0

internal import Foundation

extension CKOperation {
    /// Calls `body` with requests of the operation's container, for what concerns no database in particular. A cancelled
    /// operation fails before it begins.
    func withContainerCloud<Value>(
        _ body: (CloudDatabase) async throws(CKError) -> Value
    ) async -> Result<Value, CKError> {
        do throws(CKError) {
            guard !isCancelled else { throw CKError(.operationCancelled) }
            let configuration = effectiveConfiguration
            let database = (configuration.container ?? .default()).sharedCloudDatabase
            var cloud = try database.cloud(
                with: configuration, group: group, qualityOfService: effectiveQualityOfService)
            cloud.reportExecutor = executor
            return .success(try await body(cloud))
        } catch {
            return .failure(error)
        }
    }
}
