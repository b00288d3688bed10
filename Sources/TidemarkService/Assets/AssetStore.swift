// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain

/// Where the content of assets is kept: files in a directory (TidemarkAssets), memory (TidemarkTestKit), or a service for
/// objects. What records name is in ``Storage``; this holds bytes and decides nothing.
///
/// The promises:
/// - *Whole or not at all*: what ``read(_:at:count:)`` shows has the hash and size of its key and is durable; an upload that ends in between leaves at most something to go on from.
/// - *Nobody waits for a disk*: calls suspend; what blocks runs on threads of its own.
/// - *In order*: calls for one upload take place in the order in which they were made.
package protocol AssetStore: AnyObject, Sendable {
    /// How far an upload is; complete if its asset is there, by whomever it was uploaded.
    func progress(of upload: AssetUpload) async throws(AssetStoreError) -> AssetProgress

    /// Adds bytes to an upload if they begin where it ends; else changes nothing. The chunk that makes it whole, which must
    /// say what it becomes, completes it; for an asset without bytes that is an empty one.
    ///
    /// One that its content is to name is completed only if all of it came without a break: what lay on a disk meanwhile may
    /// have been damaged, and nobody could tell. Else it stays as it is.
    ///
    /// - Returns: how far the upload is now.
    /// - Throws: `modified` if it is whole and its hash is another: then it begins anew.
    func append(
        _ chunk: ArraySlice<UInt8>, at offset: Int64, to upload: AssetUpload
    ) async throws(AssetStoreError) -> AssetProgress

    /// So many bytes from there on, fewer only at the end.
    ///
    /// - Parameter head: what the result begins with, so that whoever sends the bytes need not copy them.
    /// - Throws: `missing` if the asset is not there.
    func read(
        _ asset: AssetKey, at offset: Int64, count: Int, after head: [UInt8]
    ) async throws(AssetStoreError) -> [UInt8]

    /// What the upload that completed the asset said (`AssetUpload.checksum`); nil if it said nothing, or if that was not
    /// kept, as by a copy of the files that left their attributes behind.
    ///
    /// - Throws: `missing` if the asset is not there.
    func checksum(of asset: AssetKey) async throws(AssetStoreError) -> [UInt8]?

    /// Removes an asset; one that is not there is no error.
    func remove(_ asset: AssetKey) async throws(AssetStoreError)

    /// Everything that is there, a batch at a time, in no certain order.
    func forEachBatch(_ body: @Sendable ([AssetKey]) async -> Bool) async throws(AssetStoreError)

    /// Forgets uploads to which nothing was added for so long.
    func expireUploads(idleFor idle: Duration) async throws(AssetStoreError)
}

extension AssetStore {
    /// As ``progress(of:)``, of an upload that the asset's hash names.
    package func progress(of asset: AssetKey, by device: DeviceID) async throws(AssetStoreError) -> AssetProgress {
        try await progress(of: AssetUpload(of: asset, by: device))
    }

    /// As ``append(_:at:to:)``, for an upload that the asset's hash names.
    package func append(
        _ chunk: [UInt8], at offset: Int64, to asset: AssetKey, by device: DeviceID
    ) async throws(AssetStoreError) -> AssetProgress {
        try await append(chunk[...], at: offset, to: AssetUpload(of: asset, by: device))
    }

    /// The bytes alone.
    package func read(
        _ asset: AssetKey, at offset: Int64, count: Int
    ) async throws(AssetStoreError) -> [UInt8] {
        try await read(asset, at: offset, count: count, after: [])
    }
}

/// What can go wrong where assets are kept.
package struct AssetStoreError: Error, CustomStringConvertible {
    /// The causes of the error. Each becomes an outcome of the asset's request.
    package enum Code: String, Sendable {
        case missing
        /// The bytes are not those that were announced.
        case modified
        /// No room is left.
        case full
        /// The user has too much under way in this database.
        case crowded
        /// Too many uploads at once, or the same one from elsewhere.
        case busy
        /// Anything else that the system refuses.
        case unavailable
    }

    package let code: Code
    /// For the log: the call that failed and why.
    package let detail: String

    package init(_ code: Code, detail: String = "") {
        self.code = code
        self.detail = detail
    }

    package var description: String { detail.isEmpty ? code.rawValue : "\(code.rawValue): \(detail)" }
}

extension AssetStoreError.Code {
    /// What a client is told.
    var reason: FailureReason {
        switch self {
        case .missing: .assetMissing
        case .modified: .assetModified
        case .full: .assetsFull
        case .crowded: .uploadsFull
        case .busy: .zoneBusy
        case .unavailable: .storeUnavailable
        }
    }
}
