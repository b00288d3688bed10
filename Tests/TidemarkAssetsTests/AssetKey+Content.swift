// SPDX-License-Identifier: Apache-2.0

import TidemarkCrypto
import TidemarkDomain
import TidemarkFields
import TidemarkService

extension FieldAsset {
    init(of content: [UInt8]) {
        self.init(sha256: ContentHash.of(content), byteCount: Int64(content.count))
    }
}

extension AssetKey {
    init(of content: [UInt8], database: Int64 = 1) {
        self.init(database: DatabaseID(database), content: FieldAsset(of: content))
    }
}

/// What the work fails with; nil if it does not.
func code(_ work: () async throws(AssetStoreError) -> Void) async -> AssetStoreError.Code? {
    do {
        try await work()
        return nil
    } catch {
        return error.code
    }
}
