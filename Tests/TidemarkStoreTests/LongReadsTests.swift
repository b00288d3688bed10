// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import TidemarkDomain
import TidemarkFields
import TidemarkPostgres
import TidemarkService
import TidemarkTestSupport

@testable import TidemarkStore

/// Work for which PostgreSQL looks at very many zones, beside work of somebody else. A lock makes it as long as a test likes.
@Suite struct LongReadsTests {
    /// Counts the reads that have ended.
    private final class Ends: Sendable {
        private let ended = Mutex(0)

        var count: Int { ended.withLock { $0 } }

        func run<Value: Sendable>(_ read: @escaping @Sendable () async throws -> Value) -> Task<Value, any Error> {
            Task {
                defer { ended.withLock { $0 += 1 } }
                return try await read()
            }
        }
    }

    @Test func `R-739, R-751: how full accounts are is read in turns by account, and no other read waits for it`()
        async throws
    {
        try await SharingFixture.run { fixture in
            let storage = fixture.storage
            // Their databases have never been written to, so it is not remembered that they had no quota.
            let carol = try await SharingFixture.identity("carol", in: storage)
            _ = try await storage.setAccountQuota(1_000_000, of: nil)
            let lease = try await fixture.other.acquire()
            try await lease.connection.executeScript("BEGIN; LOCK TABLE asset_total IN ACCESS EXCLUSIVE MODE")
            let ends = Ends()
            let bobs = (0..<5).map { _ in ends.run { try await storage.storageUse(of: fixture.bob.privateDatabase) } }
            try await eventually { storage.storageUses.waitingCount == 4 }
            let carols = ends.run { try await storage.storageUse(of: carol.privateDatabase) }
            try await fixture.waitForWaiting(2, application: "tidemark")
            // Two connections are busy. One is left.
            _ = try await storage.standing()
            #expect(ends.count == 0)
            try await lease.connection.executeScript("COMMIT")
            for use in bobs + [carols] { #expect(try await use.value?.bytesMax == 1_000_000) }
            fixture.other.release(lease)
        }
    }

    @Test(arguments: [true, false])
    func `R-739: no other read waits for the zones of shared databases, nor for their marks`(
        readsMarks: Bool
    ) async throws {
        try await SharingFixture.run { fixture in
            try await fixture.share(with: fixture.bobs(.accepted))
            try await fixture.point()
            let (storage, bob) = (fixture.storage, fixture.bob)
            let lease = try await fixture.other.acquire()
            try await lease.connection.executeScript("BEGIN; LOCK TABLE shared_zone IN ACCESS EXCLUSIVE MODE")
            let ends = Ends()
            let reads = (0..<2).map { _ in
                ends.run {
                    if readsMarks { return try await storage.sharedMarks(of: [bob.sharedDatabase: bob.user]).count }
                    return try await storage.sharedZones(
                        of: bob.sharedDatabase, for: bob.user, after: nil, zonesMax: 10
                    ).count
                }
            }
            try await fixture.waitForWaiting(2, application: "tidemark")
            _ = try await storage.standing()
            #expect(ends.count == 0)
            try await lease.connection.executeScript("COMMIT")
            for read in reads { #expect(try await read.value == 1) }
            fixture.other.release(lease)
        }
    }

    /// They wait for the row of their account. Without turns, those of one account would have all connections for writing.
    @Test func `R-727, R-751: of assets that must fit in an account's quota one is kept at a time`() async throws {
        try await SharingFixture.run { fixture in
            let storage = fixture.storage
            let carol = try await SharingFixture.identity("carol", in: storage)
            _ = try await storage.setAccountQuota(1_000_000, of: nil)
            let lease = try await fixture.other.acquire()
            try await lease.connection.executeScript(
                "BEGIN; SELECT id FROM account WHERE name IN ('bob', 'carol') FOR NO KEY UPDATE")
            let ends = Ends()
            func keep(_ number: UInt8, in database: DatabaseID) -> Task<Bool, any Error> {
                let content = FieldAsset(sha256: [UInt8](repeating: number, count: 32), byteCount: 10)
                return ends.run {
                    try await storage.keepAsset(
                        AssetKey(database: database, content: content), from: nil, now: SharingFixture.now
                    ) {}
                }
            }
            let bobs = (1...20).map { keep($0, in: fixture.bob.privateDatabase) }
            try await eventually { storage.assetKeeps.waitingCount == 19 }
            let carols = keep(99, in: carol.privateDatabase)
            try await fixture.waitForWaiting(2, application: "tidemark")
            // Alice's account has a quota too, and its row is free.
            try await fixture.create("More")
            #expect(ends.count == 0)
            try await lease.connection.executeScript("COMMIT")
            for kept in bobs + [carols] { #expect(try await kept.value) }
            fixture.other.release(lease)
        }
    }
}
