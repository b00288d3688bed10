// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import Testing
import TidemarkCrypto
import TidemarkDomain
import TidemarkFairness
import TidemarkFields
import TidemarkService
import TidemarkTestSupport

@testable import TidemarkAssets

@Suite struct FileAssetStoreTests {
    private static let phone = DeviceID(high: 0, low: 1)
    private static let laptop = DeviceID(high: 0, low: 2)

    private func withStore(
        idleMax: Duration = .seconds(60), _ body: (FileAssetStore, String) async throws -> Void
    ) async throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let path = "\(directory.path)/made/on/demand"
        let store = try FileAssetStore(directory: path, idleMax: idleMax, uploadBytesMax: Limits().uploadBytesMax)
        defer { store.stop() }
        try await body(store, path)
    }

    /// Waits until a store that has ended lets go of an upload: a program that this process starts just then has its lock
    /// too, until it runs.
    private func notBusy(_ work: () async throws(AssetStoreError) -> Void) async throws {
        try await eventually { await code(work) != .busy }
    }

    private func bytes(_ count: Int) -> [UInt8] {
        var state: UInt64 = 7
        return (0..<count).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(truncatingIfNeeded: state >> 56)
        }
    }

    /// Every directory whose list of names was made durable, and what it listed then.
    private final class Synchronized: Sendable {
        private let state = Mutex<[(path: String, names: Set<String>)]>([])
        let fails = Mutex(false)

        func add(_ path: String) throws(AssetStoreError) {
            if fails.withLock({ $0 }) { throw AssetStoreError(.unavailable) }
            let names = Set((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [])
            state.withLock { $0.append((path, names)) }
        }

        /// Whether the path, and each directory below `root` on the way to it, is in a list that was made durable.
        func keeps(_ path: String, below root: String) -> Bool {
            var path = path
            while path != root {
                let parent = URL(fileURLWithPath: path).deletingLastPathComponent().path
                let name = URL(fileURLWithPath: path).lastPathComponent
                guard state.withLock({ $0.contains { $0.path == parent && $0.names.contains(name) } }) else {
                    return false
                }
                path = parent
            }
            return true
        }
    }

    @Test func `R-766: an asset that was answered complete is durable, with the names of all directories above it`()
        async throws
    {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let root = "\(directory.path)/made/on/demand"
        for number in 0..<3 {
            // Each is another server on the same directory, which finds what the others made.
            let synchronized = Synchronized()
            let store = try FileAssetStore(
                directory: root, threads: 1, uploadBytesMax: Limits().uploadBytesMax,
                durability: FileDurability(synchronizeDirectory: synchronized.add))
            defer { store.stop() }
            // A new shelf, a shelf that is there, and a file that is there.
            for content in [[UInt8(number)], [UInt8(number), 1], [9, 9]] {
                let asset = AssetKey(of: content)
                let progress = try await store.append(content, at: 0, to: asset, by: Self.phone)
                #expect(progress.isComplete)
                let file = FileLayout(directory: root).file(of: asset)
                #expect(FileManager.default.fileExists(atPath: file))
                #expect(synchronized.keeps(file, below: root), "\(number) \(content)")
            }
            if number == 0 { #expect(synchronized.keeps(root, below: directory.path)) }
        }
    }

    @Test func `R-766: an asset whose name may not be durable is not complete, also when it is asked for again`()
        async throws
    {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let root = "\(directory.path)/assets"
        let synchronized = Synchronized()
        let store = try FileAssetStore(
            directory: root, threads: 1, uploadBytesMax: Limits().uploadBytesMax,
            durability: FileDurability(synchronizeDirectory: synchronized.add))
        defer { store.stop() }
        let asset = AssetKey(of: [1, 2, 3])
        synchronized.fails.withLock { $0 = true }
        #expect(
            await code { () async throws(AssetStoreError) in
                _ = try await store.append([1, 2, 3], at: 0, to: asset, by: Self.phone)
            } == .unavailable)
        #expect(
            await code { () async throws(AssetStoreError) in
                _ = try await store.progress(of: asset, by: Self.phone)
            } == .unavailable)
        synchronized.fails.withLock { $0 = false }
        #expect(try await store.progress(of: asset, by: Self.phone).isComplete)
        #expect(synchronized.keeps(FileLayout(directory: root).file(of: asset), below: root))
    }

    @Test(arguments: [0, 1, 999, 1_000, 1_001, 5_000])
    func `R-070: what is uploaded in chunks is read as it was`(count: Int) async throws {
        try await withStore { store, _ async throws in
            let content = bytes(count)
            let asset = AssetKey(of: content)
            #expect(try await store.progress(of: asset, by: Self.phone) == .init(byteCount: 0, isComplete: false))
            await #expect(throws: AssetStoreError.self) { try await store.read(asset, at: 0, count: 10) }
            var progress = AssetProgress(byteCount: 0, isComplete: false)
            for start in stride(from: 0, through: max(0, count - 1), by: 1_000) {
                #expect(!progress.isComplete)
                let chunk = Array(content[start..<min(start + 1_000, count)])
                progress = try await store.append(chunk, at: Int64(start), to: asset, by: Self.phone)
            }
            #expect(progress == .init(byteCount: Int64(count), isComplete: true))
            #expect(try await store.progress(of: asset, by: Self.laptop) == progress)
            #expect(try await store.read(asset, at: 0, count: count + 10) == content)
            if count > 2 { #expect(try await store.read(asset, at: 1, count: 2) == Array(content[1...2])) }
            #expect(try await store.read(asset, at: Int64(count), count: 5).isEmpty)
            // Once more is no error, and nobody else's database has it.
            #expect(try await store.append([], at: 0, to: asset, by: Self.laptop).isComplete)
            #expect(try await !store.progress(of: AssetKey(of: content, database: 2), by: Self.phone).isComplete)
            try await store.remove(asset)
            try await store.remove(asset)
            await #expect(throws: AssetStoreError.self) { try await store.read(asset, at: 0, count: 10) }
        }
    }

    @Test func `a draft becomes an asset when it is known what it is`() async throws {
        try await withStore { store, path async throws in
            let content = bytes(3_000)
            let asset = AssetKey(of: content)
            let name = [UInt8](repeating: 5, count: 32)
            let draft = AssetUpload(draft: name, byteCount: 3_000, in: asset.database, by: Self.phone)
            #expect(try await store.append(content[..<1_000], at: 0, to: draft).byteCount == 1_000)
            #expect(try await store.progress(of: draft) == .init(byteCount: 1_000, isComplete: false))
            // Not of another device, nor of an upload that the hash names.
            let other = AssetUpload(draft: name, byteCount: 3_000, in: asset.database, by: Self.laptop)
            #expect(try await store.progress(of: other).byteCount == 0)
            #expect(try await store.progress(of: asset, by: Self.phone).byteCount == 0)
            let named = AssetUpload(of: asset, draft: name, by: Self.phone)
            #expect(try await store.progress(of: named) == .init(byteCount: 1_000, isComplete: false))
            #expect(try await store.append(content[1_000...], at: 1_000, to: named).isComplete)
            #expect(try await store.read(asset, at: 0, count: 3_000) == content)
            #expect(try await store.progress(of: named).isComplete)
            #expect(try FileManager.default.contentsOfDirectory(atPath: "\(path)/uploads/nobody").isEmpty)

            // Something else than it was said to be: it begins anew.
            let wrong = AssetUpload(of: AssetKey(of: bytes(2_000)), draft: name, by: Self.phone)
            let code = await code { () throws(AssetStoreError) in
                _ = try await store.append([UInt8](repeating: 0, count: 2_000)[...], at: 0, to: wrong)
            }
            #expect(code == .modified)
            #expect(try await store.progress(of: wrong) == .init(byteCount: 0, isComplete: false))
        }
    }

    @Test func `a draft is named by its content if it came without a break, else by who knows its hash`() async throws {
        try await withStore { store, path async throws in
            let content = bytes(3_000)
            let asset = AssetKey(of: content)
            func part(_ number: UInt8, isEnd: Bool) -> AssetUpload {
                AssetUpload(
                    draft: [UInt8](repeating: number, count: 32), byteCount: 3_000, in: asset.database, by: Self.phone,
                    isNamedByContent: isEnd)
            }
            #expect(try await store.append(content[..<1_000], at: 0, to: part(5, isEnd: false)).byteCount == 1_000)
            let end = try await store.append(content[1_000...], at: 1_000, to: part(5, isEnd: true))
            #expect(end == .init(byteCount: 3_000, isComplete: true, sha256: asset.content.sha256))
            #expect(try await store.read(asset, at: 0, count: 3_000) == content)

            // Between two processes a crash may have taken what the first one wrote.
            do {
                let other = try FileAssetStore(directory: path, uploadBytesMax: Limits().uploadBytesMax)
                _ = try await other.append(content[..<1_000], at: 0, to: part(6, isEnd: false))
                other.stop()
            }
            try await notBusy { () throws(AssetStoreError) in _ = try await store.progress(of: part(6, isEnd: false)) }
            let whole = AssetProgress(byteCount: 3_000, isComplete: false)
            #expect(try await store.append(content[1_000...], at: 1_000, to: part(6, isEnd: true)) == whole)
            try await store.remove(asset)
            let named = part(6, isEnd: false).named(asset.content.sha256)
            #expect(try await store.append([], at: 3_000, to: named) == .init(byteCount: 3_000, isComplete: true))
            #expect(try await store.read(asset, at: 0, count: 3_000) == content)
        }
    }

    @Test func `R-071: the checksum that came with an asset is kept with it`() async throws {
        try await withStore { store, path async throws in
            let content = bytes(3_000)
            let asset = AssetKey(of: content)
            let missing = await code { () throws(AssetStoreError) in
                _ = try await store.checksum(of: asset, for: .nobody)
            }
            #expect(missing == .missing)
            _ = try await store.append(content, at: 0, to: asset, by: Self.phone)
            #expect(try await store.checksum(of: asset, for: .nobody) == nil, "nobody said one")
            try await store.remove(asset)

            let checksum = Checksum.of(content)
            let part = AssetUpload(
                draft: [UInt8](repeating: 1, count: 32), byteCount: 3_000, in: asset.database, by: Self.phone)
            let end = AssetUpload(
                draft: part.key.name, byteCount: 3_000, in: asset.database, by: Self.phone, isNamedByContent: true,
                checksum: checksum)
            _ = try await store.append(content[..<1_000], at: 0, to: part)
            #expect(try await store.append(content[1_000...], at: 1_000, to: end).isComplete)
            let other = try FileAssetStore(directory: path, uploadBytesMax: Limits().uploadBytesMax)
            defer { other.stop() }
            #expect(try await other.checksum(of: asset, for: .nobody) == checksum)
        }
    }

    @Test func `I-7, R-738: unfinished uploads of an account are bounded, and what rests longest makes room`()
        async throws
    {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let path = directory.path
        func upload(_ number: UInt8, by account: Int64?) -> AssetUpload {
            var upload = AssetUpload(
                draft: [UInt8](repeating: number, count: 32), byteCount: 100, in: DatabaseID(1), by: Self.phone)
            upload.account = account.map { AccountID($0) }
            return upload
        }
        func begin(_ number: UInt8, by account: Int64?, _ store: FileAssetStore) async -> AssetStoreError.Code? {
            await code { () throws(AssetStoreError) in
                _ = try await store.append([1], at: 0, to: upload(number, by: account))
            }
        }
        let accounts: [Int64?] = [nil, 7, 8]
        for account in accounts {
            let store = try FileAssetStore(directory: path, idleMax: .seconds(60), uploadBytesMax: 300)
            defer { store.stop() }
            // Announced are 100 bytes each, whatever has come of them.
            for number in 1...3 as ClosedRange<UInt8> { #expect(await begin(number, by: account, store) == nil) }
            #expect(await begin(4, by: account, store) == .crowded)
            #expect(await begin(2, by: account, store) == nil)
        }
        // Nobody has them open any more: the oldest goes, of that account alone.
        let layout = FileLayout(directory: path)
        // Which uploads have a file.
        func left(of account: Int64?) -> [UInt8] {
            (1...4).filter { FileCalls.status(of: layout.file(of: upload($0, by: account))) != nil }
        }
        for account in accounts {
            #expect(left(of: account) == [1, 2, 3])
            for number in left(of: account) {
                let date = Date(timeIntervalSinceNow: number == 3 ? -5_000 : -4_000)
                try FileManager.default.setAttributes(
                    [.modificationDate: date], ofItemAtPath: layout.file(of: upload(number, by: account)))
            }
        }
        let store = try FileAssetStore(directory: path, idleMax: .seconds(60), uploadBytesMax: 300)
        defer { store.stop() }
        #expect(await begin(4, by: 7, store) == nil)
        #expect(accounts.map(left) == [[1, 2, 3], [1, 2, 4], [1, 2, 3]])
        #expect(try await store.progress(of: upload(3, by: 7)).byteCount == 0)
        #expect(try await store.progress(of: upload(2, by: 7)).byteCount == 1)
    }

    @Test func `an upload goes on where it was, also in another process`() async throws {
        try await withStore { store, path async throws in
            let content = bytes(3_000)
            let asset = AssetKey(of: content)
            _ = try await store.append(Array(content[..<1_000]), at: 0, to: asset, by: Self.phone)
            // From elsewhere than where it is: nothing is added.
            let there = AssetProgress(byteCount: 1_000, isComplete: false)
            #expect(try await store.append(Array(content[..<1_000]), at: 0, to: asset, by: Self.phone) == there)
            #expect(try await store.append(Array(content[2_000...]), at: 2_000, to: asset, by: Self.phone) == there)
            #expect(try await store.progress(of: asset, by: Self.laptop).byteCount == 0)
            // Another process may not write to it while this one has it.
            let other = try FileAssetStore(directory: path, uploadBytesMax: Limits().uploadBytesMax)
            defer { other.stop() }
            let code = await code { () throws(AssetStoreError) in
                _ = try await other.progress(of: asset, by: Self.phone)
            }
            #expect(code == .busy)
            #expect(try await store.progress(of: asset, by: Self.phone) == there)
        }
        try await withStore { first, path async throws in
            let content = bytes(3_000)
            let asset = AssetKey(of: content)
            do {
                let store = try FileAssetStore(directory: path, uploadBytesMax: Limits().uploadBytesMax)
                _ = try await store.append(Array(content[..<1_000]), at: 0, to: asset, by: Self.phone)
                store.stop()
            }
            try await notBusy { () throws(AssetStoreError) in _ = try await first.progress(of: asset, by: Self.phone) }
            #expect(try await first.progress(of: asset, by: Self.phone).byteCount == 1_000)
            #expect(
                try await first.append(Array(content[1_000...]), at: 1_000, to: asset, by: Self.phone).isComplete)
            #expect(try await first.read(asset, at: 0, count: 3_000) == content)
        }
    }

    @Test func `R-070: bytes that are not those announced are not kept, and the upload begins anew`() async throws {
        try await withStore { store, _ async throws in
            let content = bytes(100)
            let asset = AssetKey(of: content)
            let code = await code { () throws(AssetStoreError) in
                _ = try await store.append(Array(content.reversed()), at: 0, to: asset, by: Self.phone)
            }
            #expect(code == .modified)
            #expect(try await store.progress(of: asset, by: Self.phone).byteCount == 0)
            #expect(try await store.append(content, at: 0, to: asset, by: Self.phone).isComplete)
            #expect(try await store.read(asset, at: 0, count: 100) == content)
        }
    }

    @Test(.enabled(if: SmallDisk.isPossible, "mounts a file system, which root alone may"))
    func `R-011: a disk that is full takes no more, and keeps what it has`() async throws {
        let disk = try SmallDisk(kilobytes: 256)
        defer { disk.remove() }
        let store = try FileAssetStore(
            directory: "\(disk.path)/assets", idleMax: .seconds(60), uploadBytesMax: Limits().uploadBytesMax)
        defer { store.stop() }
        let (small, large) = (bytes(50_000), bytes(400_000))
        func upload(_ content: [UInt8], to asset: AssetKey) async throws(AssetStoreError) -> Bool {
            var progress = try await store.progress(of: asset, by: Self.phone)
            while !progress.isComplete {
                let start = Int(progress.byteCount)
                let chunk = Array(content[start..<min(start + 40_000, content.count)])
                progress = try await store.append(chunk, at: Int64(start), to: asset, by: Self.phone)
            }
            return true
        }
        #expect(try await upload(small, to: AssetKey(of: small)))
        for _ in 0..<2 {
            let code = await code { () throws(AssetStoreError) in _ = try await upload(large, to: AssetKey(of: large)) }
            #expect(code == .full)
        }
        #expect(try await store.read(AssetKey(of: small), at: 0, count: 50_000) == small)
        // Once there is room the upload goes on.
        try disk.resize(kilobytes: 2_048)
        #expect(try await upload(large, to: AssetKey(of: large)))
        #expect(try await store.read(AssetKey(of: large), at: 0, count: 400_000) == large)
    }

    @Test func `what is there is found, and uploads that nobody goes on with are removed`() async throws {
        try await withStore { store, path async throws in
            let assets = [AssetKey(of: [1]), AssetKey(of: [2]), AssetKey(of: [1], database: 2)]
            for (asset, content) in zip(assets, [[1], [2], [1]] as [[UInt8]]) {
                _ = try await store.append(content, at: 0, to: asset, by: Self.phone)
            }
            let partial = AssetKey(of: [7, 7])
            _ = try await store.append([7], at: 0, to: partial, by: Self.phone)
            let found = Mutex<[AssetKey]>([])
            try await store.forEachBatch { batch in
                found.withLock { $0 += batch }
                return true
            }
            #expect(found.withLock { $0.sorted() } == assets.sorted())
            try await store.expireUploads(idleFor: .seconds(60))
            let folder = "\(path)/uploads/nobody"
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder).count == 1)
            // It is under way.
            try await store.expireUploads(idleFor: .seconds(-60))
            #expect(try await store.append([7], at: 1, to: partial, by: Self.phone).isComplete)
            do {
                let other = try FileAssetStore(directory: path, uploadBytesMax: Limits().uploadBytesMax)
                _ = try await other.append([8], at: 0, to: AssetKey(of: [8, 8]), by: Self.phone)
                other.stop()
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder).count == 1)
            // As in `notBusy`: what is locked is under way.
            try await eventually {
                try await store.expireUploads(idleFor: .seconds(-60))
                return try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty
            }
        }
    }

    @Test func `R-070: a device whose upload stands still goes on with another server`() async throws {
        try await withStore(idleMax: .milliseconds(20)) { store, path async throws in
            let content = bytes(2_000)
            let asset = AssetKey(of: content)
            _ = try await store.append(Array(content[..<1_000]), at: 0, to: asset, by: Self.phone)
            let other = try FileAssetStore(directory: path, uploadBytesMax: Limits().uploadBytesMax)
            defer { other.stop() }
            let deadline = ContinuousClock.now + .seconds(30)
            var failure: AssetStoreError.Code? = .busy
            while failure == .busy, ContinuousClock.now < deadline {
                failure = await code { () throws(AssetStoreError) in
                    _ = try await other.progress(of: asset, by: Self.phone)
                }
            }
            #expect(failure == nil)
            #expect(try await other.append(Array(content[1_000...]), at: 1_000, to: asset, by: Self.phone).isComplete)
            #expect(try await store.read(asset, at: 0, count: 2_000) == content)
        }
    }

    @Test func `a directory that cannot be made is an error that names it`() async throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let path = "\(directory.path)/file"
        #expect(FileManager.default.createFile(atPath: path, contents: Data()))
        do throws(AssetStoreError) {
            _ = try FileAssetStore(directory: "\(path)/assets", uploadBytesMax: Limits().uploadBytesMax)
            Issue.record("made")
        } catch {
            #expect(error.code == .unavailable && error.description.contains(path))
        }
    }
}
