// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
package import TidemarkFairness
internal import TidemarkTelemetry

/// Stores the content of assets: files in a directory (TidemarkAssets), memory (TidemarkTestKit), or an object store.
/// ``Storage`` knows which assets records name; this protocol stores bytes and decides nothing.
///
/// It promises:
/// - *Whole or not at all*: what ``read(_:at:count:after:for:)`` returns has the hash and size of its key, and is
///   durable. An interrupted upload leaves at most a part that can be resumed.
/// - *Nobody waits for a disk*: calls suspend, and blocking work runs on separate threads.
/// - *In order*: calls for one upload are carried out in the order in which they were made.
/// - *In turn*: calls for an owner may be refused with `rateLimited`. The same call can be made again later.
package protocol AssetStore: AnyObject, Sendable {
    /// The number of bytes that an upload has. If it counts existing assets (`AssetUpload.countsExisting`), it is
    /// complete if its asset exists, whoever uploaded it. Otherwise only bytes that this upload has sent count.
    func progress(of upload: AssetUpload) async throws(AssetStoreError) -> AssetProgress

    /// Adds bytes to an upload if they begin where it ends; otherwise changes nothing. The last chunk must say what the
    /// upload becomes, and completes it. An asset without bytes has one empty chunk.
    ///
    /// If the client does not know the hash, the store computes it, but only of an upload that came without a break. A
    /// part that lay on a disk meanwhile may have been damaged, and nobody could tell. Such an upload stays as it is.
    ///
    /// - Returns: how far the upload is now.
    /// - Throws: `modified` if all bytes are there and their hash differs; the upload then starts again.
    func append(
        _ chunk: ArraySlice<UInt8>, at offset: Int64, to upload: AssetUpload
    ) async throws(AssetStoreError) -> AssetProgress

    /// This many bytes from the offset, fewer only at the end.
    ///
    /// - Parameters:
    ///   - head: bytes that the result begins with, so that the sender does not have to copy the content behind them.
    ///   - owner: whose turn the call takes.
    /// - Throws: `missing` if the asset does not exist.
    func read(
        _ asset: AssetKey, at offset: Int64, count: Int, after head: [UInt8], for owner: WorkOwner
    ) async throws(AssetStoreError) -> [UInt8]

    /// The checksum that came with the upload that completed the asset (`AssetUpload.checksum`). Nil if none came, or
    /// if it was not kept, for example because files were copied without their attributes.
    ///
    /// - Parameter owner: as for reading.
    /// - Throws: `missing` if the asset does not exist.
    func checksum(of asset: AssetKey, for owner: WorkOwner) async throws(AssetStoreError) -> [UInt8]?

    /// Removes an asset. Removing one that does not exist is not an error.
    func remove(_ asset: AssetKey) async throws(AssetStoreError)

    /// Visits all assets, in batches and in no particular order.
    func forEachBatch(_ body: @Sendable ([AssetKey]) async -> Bool) async throws(AssetStoreError)

    /// Forgets uploads that have been idle for this long.
    func expireUploads(idleFor idle: Duration) async throws(AssetStoreError)
}

/// A failure of the place where assets are stored.
package struct AssetStoreError: Error, CustomStringConvertible {
    /// The causes of the error. Each becomes an outcome of the asset's request.
    package enum Code: String, Sendable {
        case missing
        /// The bytes are not the announced ones.
        case modified
        /// There is no room left.
        case full
        /// The account has too many uploads under way.
        case crowded
        /// There are too many uploads at once, or the same one comes from elsewhere.
        case busy
        /// Too much of the owner waits for the disk.
        case rateLimited
        /// The disk does not give back a file that it has, or something else has the file's name. Only this file may be affected.
        case unreadable
        /// The operating system refused for another reason.
        case unavailable
    }

    package let code: Code
    /// For the log: the call that failed, and why.
    package let detail: String

    package init(_ code: Code, detail: String = "") {
        self.code = code
        self.detail = detail
    }

    package var description: String { detail.isEmpty ? code.rawValue : "\(code.rawValue): \(detail)" }
}

extension AssetStoreError {
    /// Tells the operator of a disk that is full or broken. The code that catches an error of the assets calls it.
    func note() {
        switch code {
        case .full, .unreadable, .unavailable:
            FailureLog.shared.note(.error, "assets cannot be kept", cause: code.rawValue, ["error": description])
        case .missing, .modified, .crowded, .busy, .rateLimited: break
        }
    }
}

extension AssetStoreError.Code {
    /// The failure for the client.
    var reason: FailureReason {
        switch self {
        case .missing: .assetMissing
        case .modified: .assetModified
        case .full: .assetsFull
        case .crowded: .uploadsFull
        case .busy: .zoneBusy
        case .rateLimited: .tooManyRequests
        case .unreadable, .unavailable: .storeUnavailable
        }
    }
}
