// SPDX-License-Identifier: Apache-2.0

package import TidemarkFields

/// The rules for uploading and reading assets (R-070 … R-074).
package enum AssetRules {
    /// Why an asset of this size cannot be uploaded, whatever is stored; nil if it can.
    package static func refusal(byteCount: Int64, within limits: Limits) -> FailureReason? {
        byteCount > limits.assetBytesMax ? .assetTooLarge : nil
    }

    /// Whether a caller who may read the record may read the asset (I-5): the record's current version must name it.
    package static func isNamed(_ asset: FieldAsset, by record: RecordState) -> Bool {
        !record.isDeleted && record.fields.assets.contains(asset)
    }
}
