// SPDX-License-Identifier: Apache-2.0

public import Foundation

// Servers of this version do not share: whatever asks one fails with `serverRejectedRequest`, or with `notAuthenticated` if
// nobody is signed in. Asking for nothing gives nothing.

/// What is behind a share's URL, and joining it (R-315 … ).
extension CKContainer {
    /// What is behind a share's URL.
    ///
    /// - Throws: `serverRejectedRequest`, servers of this version do not share; `notAuthenticated` without an account.
    public func shareMetadata(for url: URL) async throws -> CKShare.Metadata {
        throw sharingRefusal
    }

    /// What is behind each of several URLs. Fails as ``shareMetadata(for:)`` does.
    public func shareMetadatas(for urls: [URL]) async throws -> [URL: Result<CKShare.Metadata, any Error>] {
        guard urls.isEmpty else { throw sharingRefusal }
        return [:]
    }

    /// Joins a share.
    ///
    /// - Throws: `serverRejectedRequest`, servers of this version do not share; `notAuthenticated` without an account.
    @discardableResult
    public func accept(_ metadata: CKShare.Metadata) async throws -> CKShare {
        throw sharingRefusal
    }

    /// Joins several shares. Fails as `accept(_:)` of one does.
    @discardableResult
    public func accept(
        _ metadatas: [CKShare.Metadata]
    ) async throws -> [CKShare.Metadata: Result<CKShare, any Error>] {
        guard metadatas.isEmpty else { throw sharingRefusal }
        return [:]
    }

    /// What is behind a share's URL: ``shareMetadata(for:)`` with a completion handler.
    @preconcurrency
    public func fetchShareMetadata(
        with url: URL, completionHandler: @escaping @Sendable (CKShare.Metadata?, (any Error)?) -> Void
    ) {
        deliver(to: completionHandler) { try await self.shareMetadata(for: url) }
    }

    /// What is behind each of several URLs: ``shareMetadatas(for:)`` with a completion handler.
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
