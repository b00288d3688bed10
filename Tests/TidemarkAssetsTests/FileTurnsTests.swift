// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
import Synchronization
import Testing
import TidemarkDomain
import TidemarkFairness
import TidemarkService
import TidemarkTestSupport

@testable import TidemarkAssets

/// Whose chunk is next on a thread that has more to do than it can.
@Suite struct FileTurnsTests {
    private typealias Upload = Task<AssetStoreError.Code?, Never>

    /// Account 1 has the thread, and keeps it until the disk is let go.
    private func withHeldDisk(
        _ bounds: FairBounds = FileTurns.bounds, _ body: (FileAssetStore, HeldDisk) async throws -> Void
    ) async throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let disk = HeldDisk()
        let store = try FileAssetStore(
            directory: directory.path, threads: 1, uploadBytesMax: Limits().uploadBytesMax, bounds: bounds,
            durability: FileDurability(synchronizeDirectory: disk.synchronize))
        defer { store.stop() }
        defer { disk.letGo() }
        disk.hold { store.waitingCount }
        let first = start([0], by: 1, store)
        try await eventually { disk.isHolding }
        try await body(store, disk)
        disk.letGo()
        #expect(await first.value == nil)
    }

    /// An upload of one chunk, to a database of the account's number.
    private func start(_ content: [UInt8], by account: Int64, _ store: FileAssetStore) -> Upload {
        var upload = AssetUpload(of: AssetKey(of: content, database: account), by: DeviceID(high: 0, low: 1))
        upload.account = AccountID(account)
        return Task { [upload] in
            await code { () async throws(AssetStoreError) in
                let progress = try await store.append(content[...], at: 0, to: upload)
                #expect(progress.isComplete)
            }
        }
    }

    enum Flood: CaseIterable { case uploads, downloads, downloadsOfNobody }

    @Test(arguments: Flood.allCases)
    func `R-711, R-717: while one owner's chunks wait for the disk, up or down, another's is next`(
        flood: Flood
    ) async throws {
        try await withHeldDisk { store, disk async throws in
            let stored = AssetKey(of: [0])
            let many = (1...20 as ClosedRange<UInt8>).map { number in
                switch flood {
                case .uploads: start([number], by: 1, store)
                case .downloads, .downloadsOfNobody:
                    Task {
                        await code { () async throws(AssetStoreError) in
                            let owner = flood == .downloads ? WorkOwner.account(1) : .nobody
                            #expect(try await store.read(stored, at: 0, count: 1, for: owner) == [0])
                        }
                    }
                }
            }
            try await eventually { store.waitingCount == 20 }
            let other = start([7], by: 2, store)
            try await eventually { store.waitingCount == 21 }
            disk.letGo()
            #expect(await other.value == nil)
            // Account 1 has just had the thread. Nobody has not, and came first.
            #expect(disk.waitingCount(atTurnOf: 2) == (flood == .downloadsOfNobody ? 19 : 20))
            for one in many { #expect(await one.value == nil) }
        }
    }

    /// How many files a folder has, again and again: whenever the thread has done something else.
    private final class Looks: Sendable {
        let counts = Mutex<[Int]>([])
        let isEnough = Mutex(false)

        func look(at folder: String, by turns: FileTurns) {
            turns.run(for: .account(1)) { [self] _ in
                counts.withLock { $0.append(FileCalls.names(in: folder).count) }
                if !isEnough.withLock({ $0 }) { look(at: folder, by: turns) }
            }
        }
    }

    @Test func `R-769, R-717: old uploads are removed in steps, and others have their turn between two of them`()
        async throws
    {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let store = try FileAssetStore(
            directory: directory.path, threads: 1, uploadBytesMax: Limits().uploadBytesMax)
        defer { store.stop() }
        let layout = FileLayout(directory: directory.path)
        // One of them is of an older version.
        let folders = [layout.uploads(of: AccountID(1)), "\(directory.path)/2/uploads/7"]
        let count = FileAssetStore.uploadsPerStep * 5 / 2
        for folder in folders {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            for number in 0..<count { try Data().write(to: URL(fileURLWithPath: "\(folder)/\(number).1-2")) }
        }
        let looks = Looks()
        looks.look(at: folders[0], by: store.workers[0].turns)
        try await eventually { looks.counts.withLock { $0.last == count } }
        try await store.expireUploads(idleFor: .seconds(-60))
        looks.isEnough.withLock { $0 = true }
        let counts = looks.counts.withLock { $0 }
        #expect(counts.last == 0)
        #expect(zip(counts, counts.dropFirst()).allSatisfy { $0 - $1 <= FileAssetStore.uploadsPerStep })
        for folder in folders { #expect(FileCalls.names(in: folder).isEmpty) }
    }

    @Test func `R-710, R-712, R-717: what waits for the disk is bounded, and whoever has most of it gives way`()
        async throws
    {
        let bounds = FairBounds(room: 1, roomPerOwner: 1, waitingMax: 4, waitingPerOwnerMax: 3)
        try await withHeldDisk(bounds) { store, disk async throws in
            var waiting: [Upload] = []
            func wait(_ content: [UInt8], by account: Int64) async throws {
                let count = waiting.count + 1
                waiting.append(start(content, by: account, store))
                try await eventually { store.waitingCount == count }
            }
            for number in 1...3 as ClosedRange<UInt8> { try await wait([number], by: 1) }
            #expect(await start([4], by: 1, store).value == .rateLimited)
            try await wait([5], by: 2)
            // The queue is full: the latest of account 1 makes room.
            let late = start([6], by: 3, store)
            let latest = waiting.remove(at: 2)
            #expect(await latest.value == .rateLimited)
            #expect(store.waitingCount == 4)
            disk.letGo()
            for one in waiting + [late] { #expect(await one.value == nil) }
            // What was refused is made again.
            for number in [3, 4] as [UInt8] { #expect(await start([number], by: 1, store).value == nil) }
        }
    }
}

/// Makes nothing durable, and can hold the thread that asks for it.
private final class HeldDisk: Sendable {
    private struct State {
        var isHeld = false
        var isHolding = false
        var waitingCount: @Sendable () -> Int = { 0 }
        /// By the name of a shelf's database: how many works waited when its first shelf was made durable.
        var turns: [String: Int] = [:]
    }

    private let state = Mutex(State())
    private let gate = DispatchSemaphore(value: 0)

    /// Whether the thread stands still.
    var isHolding: Bool { state.withLock { $0.isHolding } }

    /// How many works waited when one of the account had its turn.
    func waitingCount(atTurnOf account: Int64) -> Int? { state.withLock { $0.turns["\(account)"] } }

    /// Holds the thread when it asks next.
    func hold(_ waitingCount: @escaping @Sendable () -> Int) {
        state.withLock {
            $0.isHeld = true
            $0.waitingCount = waitingCount
        }
    }

    func letGo() {
        let wasHolding = state.withLock { state in
            defer { (state.isHeld, state.isHolding) = (false, false) }
            return state.isHolding
        }
        if wasHolding { gate.signal() }
    }

    func synchronize(_ path: String) {
        let isHeld = state.withLock { state in
            if let database = path.split(separator: "/").dropLast().last.map(String.init), state.turns[database] == nil
            {
                state.turns[database] = state.waitingCount()
            }
            state.isHolding = state.isHeld
            return state.isHeld
        }
        if isHeld { gate.wait() }
    }
}
