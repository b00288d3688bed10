// SPDX-License-Identifier: Apache-2.0

package import TidemarkFields

/// What may be done with assets (R-070 … R-074).
package enum AssetRules {
    /// Why an asset of so many bytes cannot be uploaded, whatever is stored; nil if it can.
    package static func refusal(byteCount: Int64, within limits: Limits) -> FailureReason? {
        byteCount > limits.assetBytesMax ? .assetTooLarge : nil
    }

    /// Whether whoever may read the record may read the asset (I-5): it is named by the record as it is now.
    package static func isNamed(_ asset: FieldAsset, by record: RecordState) -> Bool {
        !record.isDeleted && record.fields.assets.contains(asset)
    }
}
