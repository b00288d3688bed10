// SPDX-License-Identifier: Apache-2.0

/// Operations that continue after the app has ended. There are none. The app sends unanswered work again.
/// `CKSyncEngine` does so from its state.
extension CKContainer {
    /// None.
    public func allLongLivedOperationIDs() async throws -> [CKOperation.ID] { [] }

    /// Nil.
    public func longLivedOperation(for operationID: CKOperation.ID) async throws -> CKOperation? { nil }

    /// None: ``allLongLivedOperationIDs()`` with a completion handler.
    @preconcurrency
    public func fetchAllLongLivedOperationIDs(
        completionHandler: @escaping @Sendable ([CKOperation.ID]?, (any Error)?) -> Void
    ) {
        deliver(to: completionHandler) { try await self.allLongLivedOperationIDs() }
    }

    /// Nil: ``longLivedOperation(for:)`` with a completion handler.
    @preconcurrency
    public func fetchLongLivedOperation(
        withID operationID: CKOperation.ID,
        completionHandler: @escaping @Sendable (CKOperation?, (any Error)?) -> Void
    ) {
        deliver(to: { (found: CKOperation??, error) in completionHandler(found ?? nil, error) }) {
            try await self.longLivedOperation(for: operationID)
        }
    }
}
