// SPDX-License-Identifier: Apache-2.0

public import Foundation

// Servers of this version have no sharing. Every request about a share fails with `serverRejectedRequest`, or with
// `notAuthenticated` if nobody is signed in. Asking for nothing returns nothing.

/// Reads the metadata of shares by their URLs, and joins shares (R-315 … ).
extension CKContainer {
    /// The metadata of the share with that URL.
    ///
    /// - Throws: `serverRejectedRequest`, because servers of this version have no sharing; `notAuthenticated` without
    ///   an account.
    public func shareMetadata(for url: URL) async throws -> CKShare.Metadata {
        throw sharingRefusal
    }

    /// The metadata of the shares with these URLs. Fails as ``shareMetadata(for:)`` does.
    public func shareMetadatas(for urls: [URL]) async throws -> [URL: Result<CKShare.Metadata, any Error>] {
        guard urls.isEmpty else { throw sharingRefusal }
        return [:]
    }

    /// Joins a share.
    ///
    /// - Throws: `serverRejectedRequest`, because servers of this version have no sharing; `notAuthenticated` without
    ///   an account.
    @discardableResult
    public func accept(_ metadata: CKShare.Metadata) async throws -> CKShare {
        throw sharingRefusal
    }

    /// Joins several shares. Fails as `accept(_:)` for one does.
    @discardableResult
    public func accept(
        _ metadatas: [CKShare.Metadata]
    ) async throws -> [CKShare.Metadata: Result<CKShare, any Error>] {
        guard metadatas.isEmpty else { throw sharingRefusal }
        return [:]
    }

    /// The metadata of the share with that URL: ``shareMetadata(for:)`` with a completion handler.
    @preconcurrency
    public func fetchShareMetadata(
        with url: URL, completionHandler: @escaping @Sendable (CKShare.Metadata?, (any Error)?) -> Void
    ) {
        deliver(to: completionHandler) { try await self.shareMetadata(for: url) }
    }

    /// The metadata of the shares with these URLs: ``shareMetadatas(for:)`` with a completion handler.
    @preconcurrency
    public func fetchShareMetadatas(
        for urls: [URL],
        completionHandler:
            @escaping @Sendable (Result<[URL: Result<CKShare.Metadata, any Error>], any Error>) -> Void
    ) {
        deliver(to: completionHandler) { try await self.shareMetadatas(for: urls) }
    }

    /// Joins a share: with a completion handler.
    @preconcurrency
    public func accept(
        _ metadata: CKShare.Metadata, completionHandler: @escaping @Sendable (CKShare?, (any Error)?) -> Void
    ) {
        deliver(to: completionHandler) { try await self.accept(metadata) }
    }

    /// Joins several shares: with a completion handler.
    @preconcurrency
    public func accept(
        _ metadatas: [CKShare.Metadata],
        completionHandler:
            @escaping @Sendable (Result<[CKShare.Metadata: Result<CKShare, any Error>], any Error>) -> Void
    ) {
        deliver(to: completionHandler) { try await self.accept(metadatas) }
    }
}
