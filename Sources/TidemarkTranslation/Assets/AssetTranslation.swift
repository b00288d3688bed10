// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
package import TidemarkFields
package import TidemarkWire

extension FieldAsset {
    /// - Throws: ``Refusal`` with `requestInvalid` for an impossible hash or size.
    package init(sha256: some Sequence<UInt8>, byteCount: UInt64) throws(Refusal) {
        let sha256 = Array(sha256)
        guard sha256.count == FieldAsset.sha256ByteCount, let byteCount = Int64(exactly: byteCount) else {
            throw Refusal(.requestInvalid, "An asset is named by a SHA-256 of 32 bytes and less than 2^63 bytes.")
        }
        self.init(sha256: sha256, byteCount: byteCount)
    }
}

extension AssetKey {
    /// An upload for a zone goes to the database that owns the zone.
    ///
    /// - Throws: ``Refusal``: `zoneNotFound` for somebody else's zone, `requestInvalid`.
    package init(
        sha256: some Sequence<UInt8>, byteCount: UInt64, for zone: WireZoneID, by viewpoint: Viewpoint
    ) throws(Refusal) {
        let key = try viewpoint.requiredZoneKey(of: zone)
        self.init(database: key.database, content: try FieldAsset(sha256: sha256, byteCount: byteCount))
    }
}

extension AssetUpload {
    /// - Parameters:
    ///   - draft: empty if the hash names the upload. With a draft the hash may be empty.
    ///   - checksum: empty if the device did not compute it.
    /// - Throws: as `AssetKey.init(sha256:byteCount:for:by:)`.
    package init(
        sha256: some Collection<UInt8>, byteCount: UInt64, draft: some Collection<UInt8>,
        isNamedByContent: Bool = false, checksum: some Collection<UInt8>, for zone: WireZoneID,
        by viewpoint: Viewpoint
    ) throws(Refusal) {
        guard checksum.isEmpty || checksum.count == Self.checksumByteCount else {
            throw Refusal(.requestInvalid, "The checksum of an asset has \(Self.checksumByteCount) bytes.")
        }
        let checksum = checksum.isEmpty ? nil : Array(checksum)
        if draft.isEmpty || !sha256.isEmpty {
            let asset = try AssetKey(sha256: sha256, byteCount: byteCount, for: zone, by: viewpoint)
            let draft = draft.isEmpty ? nil : try FieldAsset(sha256: draft, byteCount: byteCount).sha256
            self.init(
                of: asset, draft: draft, by: viewpoint.uploader, owner: viewpoint.owner, checksum: checksum)
        } else {
            let draft = try AssetKey(sha256: draft, byteCount: byteCount, for: zone, by: viewpoint)
            self.init(
                draft: draft.content.sha256, byteCount: draft.content.byteCount, in: draft.database,
                by: viewpoint.uploader, owner: viewpoint.owner, isNamedByContent: isNamedByContent,
                checksum: checksum)
        }
    }
}

extension Viewpoint {
    /// In a public database all users upload, so the user is part of the name.
    fileprivate var uploader: DeviceID { access.marking(device) }

    fileprivate var owner: UserID? { access.scope == .private ? nil : access.user }
}

extension WireAssetProgress {
    package init(_ progress: AssetProgress) {
        self.init()
        offset = UInt64(clamping: progress.byteCount)
        isComplete = progress.isComplete
        if let sha256 = progress.sha256 { self.sha256 = sha256 }
    }
}

extension WireAssetChunk {
    /// - Parameter checksum: nil if the server has none.
    package init(checksum: [UInt8]?) {
        self.init()
        self.checksum = checksum ?? []
    }
}
