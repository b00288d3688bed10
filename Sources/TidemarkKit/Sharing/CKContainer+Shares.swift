// SPDX-License-Identifier: Apache-2.0

public import Foundation
internal import TidemarkWire

/// Reads the metadata of shares by their URLs, and joins shares (R-315 … ).
///
/// No connection is made to the URL: this container's server is asked for the share that the end of the URL names.
/// Without an account each call fails with `notAuthenticated`. Asking for nothing returns nothing.
extension CKContainer {
    /// The metadata of the share with that URL.
    ///
    /// - Throws: `unknownItem` if there is no such share, or if the current user is not invited.
    @discardableResult
    public func shareMetadata(for url: URL) async throws -> CKShare.Metadata {
        guard let result = try await shareMetadatas(for: [url])[url] else {
            throw CloudDatabase.wrongAnswer(to: .fetchShareMetadata)
        }
        return try result.get()
    }

    /// The metadata of the shares with these URLs, or the errors. Each is as ``shareMetadata(for:)`` returns it.
    public func shareMetadatas(for urls: [URL]) async throws -> [URL: Result<CKShare.Metadata, any Error>] {
        guard !urls.isEmpty else { return [:] }
        return try await sharedCloudDatabase.cloud.shareMetadata(of: urls).mapValues { $0.erased }
    }

    /// Joins a share. When this returns, the zone is in the shared database. To join it again succeeds.
    ///
    /// - Throws: `unknownItem` if there is no such share, or if the current user is not invited;
    ///   `invalidArguments` for the user's own share, and for a share of another container;
    ///   `tooManyParticipants` if the share is full.
    @discardableResult
    public func accept(_ metadata: CKShare.Metadata) async throws -> CKShare {
        guard let result = try await accept([metadata])[metadata] else {
            throw CloudDatabase.wrongAnswer(to: .acceptShares)
        }
        return try result.get()
    }

    /// Joins several shares, each as `accept(_:)` for one does.
    @discardableResult
    public func accept(
        _ metadatas: [CKShare.Metadata]
    ) async throws -> [CKShare.Metadata: Result<CKShare, any Error>] {
        guard !metadatas.isEmpty else { return [:] }
        return try await sharedCloudDatabase.cloud.acceptShares(metadatas).mapValues { $0.erased }
    }

    /// Asks the owners of shares for access. A person who is approved is invited, and accepts like other
    /// people.
    ///
    /// The result is also a success if there is no such share, if it takes no requests, or if the current user is blocked. So nobody learns
    /// which. The limit is 20 URLs a minute: more fail with `requestRateLimited`.
    ///
    /// - Returns: `participantAlreadyInvited` for shares that the user may accept or takes part in, `invalidArguments` for one's
    ///   own.
    public func requestShareAccess(for urls: [URL]) async throws -> [URL: Result<Void, any Error>] {
        guard !urls.isEmpty else { return [:] }
        return try await sharedCloudDatabase.cloud.requestAccess(to: urls).mapValues { $0.erased }
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
