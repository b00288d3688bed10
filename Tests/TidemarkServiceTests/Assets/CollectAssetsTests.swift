// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkFields
import TidemarkService
import TidemarkTestKit
import TidemarkTestSupport

/// What a collection of assets reads.
@Suite struct CollectAssetsTests {
    private func asset(_ number: Int, _ fixture: ServiceFixture) -> AssetKey {
        let hash = [UInt8(number / 256), UInt8(number % 256)] + Array(repeating: 0, count: 30)
        return AssetKey(database: fixture.key().database, content: FieldAsset(sha256: hash, byteCount: 5))
    }

    @Test func `R-769, R-072: a collection goes on behind very many assets that stay`() throws {
        let fixture = try ServiceFixture()
        let store = MemoryStore(fixture.database)
        let service = CloudService(
            storage: store, assets: MemoryAssetStore(), scheduler: fixture.scheduler, limits: Limits(),
            onMoved: { _ in })
        let now = Timestamp(milliseconds: fixture.scheduler.wallClockMilliseconds)
        let old = Timestamp(milliseconds: now.milliseconds - 3_600_001)
        let gone = [0, 999, 1_000, 2_998].map { asset($0, fixture) }
        let all = (0..<3_000).map { asset($0, fixture) }
        try fixture.scheduler.simulate {
            #expect(try await store.adoptAssets(gone, now: old) == 4)
            #expect(try await store.adoptAssets(all, now: now) == 2_996)
            let collection = try await service.collectAssets(grace: .seconds(3_600)).get()
            #expect(collection.count == 4)
            let left = try await store.unusedAssets(touchedBefore: .init(milliseconds: .max), after: nil, among: 3_000)
            #expect(left.unused == all.filter { !gone.contains($0) })
            await service.stop()
        }
    }
}
