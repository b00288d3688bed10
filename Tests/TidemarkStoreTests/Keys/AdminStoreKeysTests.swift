// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkService
import TidemarkStore

@Suite struct AdminStoreKeysTests {
    @Test func `a master key that is changed already is not taken for somebody else's`() async throws {
        try await StoreFixture.run { fixture in
            let storage = try fixture.storage(connections: 1)
            let admin = AdminStore(storage)
            let (old, new, other) = ([1] as [UInt8], [2] as [UInt8], [3] as [UInt8])
            #expect(try await storage.claimMasterKey(check: old))
            // The second time is that of an operator who was not told of the first.
            for expected in [AdminStore.MasterKeyChange.done(keyCount: 0), .isDone] {
                let change = try await admin.rotateMasterKey(from: old, to: new) { escrow, _ in escrow }
                #expect(change == expected)
            }
            let change = try await admin.rotateMasterKey(from: old, to: other) { escrow, _ in escrow }
            #expect(change == .isOther)
            await storage.stop()
        }
    }
}
