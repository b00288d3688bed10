// SPDX-License-Identifier: Apache-2.0

internal import TidemarkFields

/// One device's upload of an asset, which may begin before the device knows the asset's hash.
package struct AssetUpload: Sendable {
    /// Identifies an upload that is under way, so that it can be resumed.
    package struct Key: Hashable, Sendable {
        package let database: DatabaseID
        /// 32 bytes: the asset's hash, or random bytes that the device chose for a draft.
        package let name: [UInt8]
        package let byteCount: Int64
        package let device: DeviceID
        /// The user who uploads to a public database. In a private one the database identifies the user.
        package let owner: UserID?
    }

    package static let checksumByteCount = 16

    package let key: Key
    /// The asset that the upload becomes; nil while the device does not know its hash.
    package let asset: AssetKey?
    /// Whether the complete upload is named by the hash of its content. The device does not know the hash and asks for
    /// it.
    package let isNamedByContent: Bool
    /// 16 bytes that the device computed over everything it sends, for those who will download it. The
    /// server does not check them: a reader who finds them wrong still has the hash.
    package let checksum: [UInt8]?
    /// Whether the upload is complete if its asset is there already. In a public database this applies only to users
    /// who may name that asset; others must send it.
    package private(set) var countsExisting: Bool
    /// The account that uploads, which has a share of the open uploads, and for which it counts while it is
    /// unfinished. Nil: everybody without a credential together.
    package var account: AccountID?

    /// - Parameter draft: 32 bytes; nil if the asset's hash names the upload.
    package init(
        of asset: AssetKey, draft: [UInt8]? = nil, by device: DeviceID, owner: UserID? = nil, checksum: [UInt8]? = nil
    ) {
        self.asset = asset
        self.checksum = checksum
        countsExisting = owner == nil
        isNamedByContent = false
        key = Key(
            database: asset.database, name: draft ?? asset.content.sha256, byteCount: asset.content.byteCount,
            device: device, owner: owner)
    }

    /// An upload of an asset whose hash is not known yet.
    package init(
        draft: [UInt8], byteCount: Int64, in database: DatabaseID, by device: DeviceID, owner: UserID? = nil,
        isNamedByContent: Bool = false, checksum: [UInt8]? = nil
    ) {
        asset = nil
        self.checksum = checksum
        countsExisting = owner == nil
        self.isNamedByContent = isNamedByContent
        key = Key(database: database, name: draft, byteCount: byteCount, device: device, owner: owner)
    }

    /// Whether these bytes may come next. The last bytes must name the asset's hash or ask for it.
    package func takes(_ count: Int, at offset: Int64) -> Bool {
        let rest = key.byteCount - Int64(count)
        return offset >= 0 && (asset == nil && !isNamedByContent ? offset < rest : offset <= rest)
    }

    /// The same upload, for a user who may name the asset if it is there.
    package var ofClaimant: AssetUpload {
        var upload = self
        upload.countsExisting = true
        return upload
    }

    /// The same upload, once the asset's hash is known.
    package func named(_ sha256: [UInt8]) -> AssetUpload {
        let content = FieldAsset(sha256: sha256, byteCount: key.byteCount)
        var upload = AssetUpload(
            of: AssetKey(database: key.database, content: content), draft: key.name, by: key.device, owner: key.owner,
            checksum: checksum)
        upload.account = account
        return upload
    }
}
