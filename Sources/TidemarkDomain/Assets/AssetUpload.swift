// SPDX-License-Identifier: Apache-2.0

internal import TidemarkFields

/// One device's upload of an asset, which may begin before the device knows the asset's hash.
package struct AssetUpload: Sendable {
    /// By what an upload is found again while it is under way.
    package struct Key: Hashable, Sendable {
        package let database: DatabaseID
        /// 32 bytes: the asset's hash, or those that the device chose for a draft.
        package let name: [UInt8]
        package let byteCount: Int64
        package let device: DeviceID
    }

    package let key: Key
    /// What it becomes; nil as long as only the device could know, and does not.
    package let asset: AssetKey?

    /// - Parameter draft: 32 bytes; nil: the asset's hash names the upload.
    package init(of asset: AssetKey, draft: [UInt8]? = nil, by device: DeviceID) {
        self.asset = asset
        key = Key(
            database: asset.database, name: draft ?? asset.content.sha256, byteCount: asset.content.byteCount,
            device: device)
    }

    /// Of an asset whose hash is not known.
    package init(draft: [UInt8], byteCount: Int64, in database: DatabaseID, by device: DeviceID) {
        asset = nil
        key = Key(database: database, name: draft, byteCount: byteCount, device: device)
    }

    /// Whether these bytes may be the next ones: what makes it whole must say what it is to be.
    package func takes(_ count: Int, at offset: Int64) -> Bool {
        let rest = key.byteCount - Int64(count)
        return offset >= 0 && (asset == nil ? offset < rest : offset <= rest)
    }
}
