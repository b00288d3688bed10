// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
internal import TidemarkPostgres
package import TidemarkService

/// That an operator knows that an asset's file is lost.
package struct AcceptedLoss: Sendable, Equatable {
    package let at: Timestamp
    /// The operator.
    package let by: String

    package init(at: Timestamp, by: String) { (self.at, self.by) = (at, by) }
}

extension AdminStore {
    /// Remembers that the files of assets are lost. Who was first to accept it stays.
    ///
    /// - Parameters:
    ///   - operatorName: who accepts it.
    ///   - time: an asset that somebody sent or named after it may have its file again, and is left alone.
    package func acceptLoss(
        of assets: [AssetKey], by operatorName: String, seenAt time: Timestamp
    ) async throws(StorageError) {
        _ = try await storage.write(sql.backup.acceptLoss((assets, operatorName, time)))
    }

    /// Forgets it: their files are there again.
    package func forgetLoss(of assets: [AssetKey]) async throws(StorageError) {
        _ = try await storage.write(sql.backup.forgetLoss(assets))
    }
}
