// SPDX-License-Identifier: Apache-2.0

internal import TidemarkWire

/// Declining invitations, which the system does on Apple's platforms.
extension CKContainer {
    /// Declines the invitation to a share: it ends, as if the owner had taken it back. A user who already takes part leaves the share.
    ///
    /// It succeeds as well if there is nothing to decline. To leave later, delete the share's record or its zone from the
    /// shared database.
    ///
    /// - Parameter metadata: from ``shareMetadata(for:)``.
    public func decline(_ metadata: CKShare.Metadata) async throws {
        guard let result = try await sharedCloudDatabase.cloud.declineShares([metadata])[metadata] else {
            throw CloudDatabase.wrongAnswer(to: .acceptShares)
        }
        try result.get()
    }
}
