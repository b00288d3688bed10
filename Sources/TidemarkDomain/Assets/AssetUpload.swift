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
        /// Who uploads, where that is not said by the database: in a public one.
        package let owner: UserID?
    }

    package static let checksumByteCount = 16

    package let key: Key
    /// What it becomes; nil as long as only the device could know, and does not.
    package let asset: AssetKey?
    /// Once it is whole it becomes what is in it: the device does not know the hash, and asks for it.
    package let isNamedByContent: Bool
    /// 16 bytes, which the device computed of all that it sends, for those who will download it (`Checksum`). Nobody looks
    /// whether they are right: who finds that they are not has the hash.
    package let checksum: [UInt8]?

    /// - Parameter draft: 32 bytes; nil: the asset's hash names the upload.
    package init(
        of asset: AssetKey, draft: [UInt8]? = nil, by device: DeviceID, owner: UserID? = nil, checksum: [UInt8]? = nil
    ) {
        self.asset = asset
        self.checksum = checksum
        isNamedByContent = false
        key = Key(
            database: asset.database, name: draft ?? asset.content.sha256, byteCount: asset.content.byteCount,
            device: device, owner: owner)
    }

    /// Of an asset whose hash is not known.
    package init(
        draft: [UInt8], byteCount: Int64, in database: DatabaseID, by device: DeviceID, owner: UserID? = nil,
        isNamedByContent: Bool = false, checksum: [UInt8]? = nil
    ) {
        asset = nil
        self.checksum = checksum
        self.isNamedByContent = isNamedByContent
        key = Key(database: database, name: draft, byteCount: byteCount, device: device, owner: owner)
    }

    /// Whether these bytes may be the next ones: what makes it whole must say what it is to be, or ask.
    package func takes(_ count: Int, at offset: Int64) -> Bool {
        let rest = key.byteCount - Int64(count)
        return offset >= 0 && (asset == nil && !isNamedByContent ? offset < rest : offset <= rest)
    }

    /// The same, when it is known what it has become.
    package func named(_ sha256: [UInt8]) -> AssetUpload {
        let content = FieldAsset(sha256: sha256, byteCount: key.byteCount)
        return AssetUpload(
            of: AssetKey(database: key.database, content: content), draft: key.name, by: key.device, owner: key.owner,
            checksum: checksum)
    }
}
