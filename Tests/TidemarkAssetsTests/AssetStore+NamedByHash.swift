// SPDX-License-Identifier: Apache-2.0

import TidemarkDomain
import TidemarkFairness
import TidemarkService

/// Uploads that are named by the asset's hash, and reads without a head.
extension AssetStore {
    func progress(of asset: AssetKey, by device: DeviceID) async throws(AssetStoreError) -> AssetProgress {
        try await progress(of: AssetUpload(of: asset, by: device))
    }

    func append(
        _ chunk: [UInt8], at offset: Int64, to asset: AssetKey, by device: DeviceID
    ) async throws(AssetStoreError) -> AssetProgress {
        try await append(chunk[...], at: offset, to: AssetUpload(of: asset, by: device))
    }

    func read(
        _ asset: AssetKey, at offset: Int64, count: Int, for owner: WorkOwner = .nobody
    ) async throws(AssetStoreError) -> [UInt8] {
        try await read(asset, at: offset, count: count, after: [], for: owner)
    }
}
