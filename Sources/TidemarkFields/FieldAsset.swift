// SPDX-License-Identifier: Apache-2.0

/// A file that is kept beside the records: the hash and size of its content.
package struct FieldAsset: Sendable, Hashable {
    package static let sha256ByteCount = 32

    /// The `ContentHash` of the content: 32 bytes.
    package let sha256: [UInt8]
    /// Not negative.
    package let byteCount: Int64

    /// - Parameters:
    ///   - sha256: 32 bytes.
    ///   - byteCount: not negative.
    package init(sha256: [UInt8], byteCount: Int64) {
        precondition(sha256.count == Self.sha256ByteCount && byteCount >= 0)
        self.sha256 = sha256
        self.byteCount = byteCount
    }
}

extension FieldMap {
    /// Each asset that the fields name, once. It costs next to nothing for a record without assets.
    package var assets: [FieldAsset] {
        let assets = assetPlaces
        guard assets.count > 1 else { return assets }
        var seen: Set<FieldAsset> = []
        return assets.filter { seen.insert($0).inserted }
    }

    /// The asset of each place that has one: a field, or an element of a list. It walks over the entries and decodes only
    /// assets.
    package var assetPlaces: [FieldAsset] {
        guard mayNameOthers else { return [] }
        var cursor = FieldCursor()
        var assets: [FieldAsset] = []
        while cursor.advance(in: bytes.span) {
            guard
                cursor.current.typeCode == FieldType.asset.rawValue
                    || cursor.current.typeCode == FieldType.assetList.rawValue
            else { continue }
            switch try? FieldReader.value(bytes, cursor.current) {
            case .asset(let asset): assets.append(asset)
            case .assets(let list): assets += list
            default: continue
            }
        }
        return assets
    }
}
