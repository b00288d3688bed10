// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain

@testable import TidemarkService

/// What clients are told of failures of the asset store.
@Suite struct AssetStoreErrorTests {
    @Test func `R-712: whoever has too much waiting for the disk is told to try again later`() {
        #expect(AssetStoreError.Code.rateLimited.reason == .tooManyRequests)
    }

    @Test func `R-960: a file that the disk does not open is no asset that is gone: devices try again later`() {
        #expect(AssetStoreError.Code.unreadable.reason == .storeUnavailable)
    }
}
