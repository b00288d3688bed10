// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import TidemarkDomain
import TidemarkService
import TidemarkTestSupport

@testable import TidemarkAssets

/// When the content of uploads gets onto the disk.
@Suite struct FileDurabilityTests {
    private static let megabyte = 1_048_576
    private static let chunkBytes = megabyte / 2
    private static let phone = DeviceID(high: 0, low: 1)

    /// What was asked for, with how much the file had then.
    private enum Event: Equatable {
        case flushed(Int64)
        case synchronized(Int64)
    }

    private final class Disk: Sendable {
        let events = Mutex<[Event]>([])
        let fails = Mutex(false)

        var durability: FileDurability {
            FileDurability(flush: flush, synchronize: synchronize)
        }

        private func flush(_ descriptor: Int32) throws(AssetStoreError) {
            let byteCount = try FileCalls.stamp(of: descriptor).byteCount
            events.withLock { $0.append(.flushed(byteCount)) }
            if fails.withLock({ $0 }) { throw AssetStoreError(.unavailable) }
            try FileCalls.synchronizeContent(descriptor)
        }

        private func synchronize(_ descriptor: Int32) throws(AssetStoreError) {
            let byteCount = try FileCalls.stamp(of: descriptor).byteCount
            events.withLock { $0.append(.synchronized(byteCount)) }
            try FileCalls.synchronize(descriptor)
        }
    }

    private func withStore(_ body: (FileAssetStore, Disk) async throws -> Void) async throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let disk = Disk()
        let store = try FileAssetStore(
            directory: directory.path, threads: 1, uploadBytesMax: Limits().uploadBytesMax, durability: disk.durability)
        defer { store.stop() }
        try await body(store, disk)
    }

    /// Each chunk has another content.
    private func content(_ byteCount: Int) -> [UInt8] {
        stride(from: 0, to: byteCount, by: Self.chunkBytes).reduce(into: []) { content, start in
            let count = min(Self.chunkBytes, byteCount - start)
            content += [UInt8](repeating: UInt8(start / Self.chunkBytes), count: count)
        }
    }

    private func send(
        _ content: [UInt8], to asset: AssetKey, _ store: FileAssetStore
    ) async throws(AssetStoreError) -> AssetProgress {
        var progress = AssetProgress(byteCount: 0, isComplete: false)
        for start in stride(from: 0, to: content.count, by: Self.chunkBytes) {
            let chunk = content[start..<min(start + Self.chunkBytes, content.count)]
            progress = try await store.append(chunk, at: Int64(start), to: AssetUpload(of: asset, by: Self.phone))
        }
        return progress
    }

    @Test(arguments: [
        (bytes: 1, steps: []), (bytes: 16 * megabyte, steps: []), (bytes: 16 * megabyte + 1, steps: [16]),
        (bytes: 40 * megabyte, steps: [16, 32]),
    ])
    func `R-717, R-766: a large upload is flushed in steps, a small one never, and each is synchronized at its end`(
        bytes: Int, steps: [Int]
    ) async throws {
        try await withStore { store, disk async throws in
            let content = content(bytes)
            let asset = AssetKey(of: content)
            #expect(try await send(content, to: asset, store).isComplete)
            let flushed = steps.map { Event.flushed(Int64($0 * Self.megabyte)) }
            #expect(disk.events.withLock { $0 } == flushed + [.synchronized(Int64(bytes))])
            #expect(try await store.read(asset, at: 0, count: bytes) == content)
        }
    }

    @Test func `R-766: an upload of which a step could not be flushed begins anew`() async throws {
        try await withStore { store, disk async throws in
            let content = content(17 * Self.megabyte)
            let asset = AssetKey(of: content)
            disk.fails.withLock { $0 = true }
            var code: AssetStoreError.Code?
            do throws(AssetStoreError) {
                _ = try await send(content, to: asset, store)
            } catch {
                code = error.code
            }
            #expect(code == .unavailable)
            #expect(try await store.progress(of: asset, by: Self.phone) == .init(byteCount: 0, isComplete: false))
            disk.fails.withLock { $0 = false }
            #expect(try await send(content, to: asset, store).isComplete)
            let step = Event.flushed(Int64(16 * Self.megabyte))
            #expect(disk.events.withLock { $0 } == [step, step, .synchronized(Int64(content.count))])
            #expect(try await store.read(asset, at: 0, count: content.count) == content)
        }
    }
}
