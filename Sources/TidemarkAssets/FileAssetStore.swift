// SPDX-License-Identifier: Apache-2.0

internal import TidemarkBytes
package import TidemarkDomain
package import TidemarkFairness
internal import TidemarkFields
package import TidemarkService
internal import TidemarkSockets

/// ``AssetStore`` in a directory of files.
///
///     DIRECTORY/DATABASE/ab/abcdef….SIZE                    an asset, by its hash
///     DIRECTORY/uploads/ACCOUNT/DATABASE-NAME.SIZE-DEVICE   an upload under way, by its hash or as a draft; to a
///                                                           public database DATABASE.USER-NAME.SIZE-DEVICE
///
/// Several servers may share the directory, over a file system that has locks. All blocking calls run on a few threads
/// of the store's own. Each asset always uses the same thread, and so does each upload. On a thread owners take turns
///
package final class FileAssetStore: AssetStore {
    /// Uploads that are looked at, and removed, before others have their turn on the thread.
    static let uploadsPerStep = 100

    private let layout: FileLayout
    let workers: [FileWorker]

    /// - Parameters:
    ///   - directory: created if it is missing.
    ///   - threads: at least 1.
    ///   - idleMax: after this time another server of the same directory can continue an idle upload.
    ///   - uploadBytesMax: `Limits.uploadBytesMax`.
    /// - Throws: the system's reason why the directory cannot be used.
    package convenience init(
        directory: String, threads: Int = 2, idleMax: Duration = .seconds(3), uploadBytesMax: Int64
    ) throws(AssetStoreError) {
        try self.init(
            directory: directory, threads: threads, idleMax: idleMax, uploadBytesMax: uploadBytesMax,
            durability: FileDurability())
    }

    /// - Parameter bounds: of the works of each thread.
    init(
        directory: String, threads: Int, idleMax: Duration = .seconds(3), uploadBytesMax: Int64,
        bounds: FairBounds = FileTurns.bounds, durability: FileDurability
    ) throws(AssetStoreError) {
        layout = FileLayout(directory: directory)
        for path in try FileCalls.makeDirectory(directory) {
            try durability.synchronizeDirectory(FileCalls.parent(of: path))
        }
        var workers: [FileWorker] = []
        for number in 0..<max(1, threads) {
            do {
                let loop = try EventLoop(name: "tidemark-disk-\(number)")
                workers.append(
                    FileWorker(
                        layout: layout, loop: loop, idleMax: idleMax, uploadBytesMax: uploadBytesMax, bounds: bounds,
                        durability: durability))
            } catch {
                for worker in workers { worker.loop.stop() }
                throw AssetStoreError(.unavailable, detail: "\(error)")
            }
        }
        self.workers = workers
    }

    /// Ends the threads. Do not use the store afterwards.
    package func stop() {
        for worker in workers { worker.loop.stop() }
    }

    /// How many works wait for their owners' turns.
    var waitingCount: Int { workers.reduce(0) { $0 + $1.turns.waitingCount } }

    private func worker(for name: [UInt8]) -> FileWorker { workers[Int(name[0]) % workers.count] }

    /// Goes on step by step. Between two of them the thread does what others want.
    private func toEnd(
        _ upload: AssetUpload, _ first: @escaping @Sendable (FileWorker) throws(AssetStoreError) -> FileWorker.Step
    ) async throws(AssetStoreError) -> AssetProgress {
        let (worker, owner) = (worker(for: upload.key.name), upload.workOwner)
        var step = try await worker.run(for: owner, first)
        while true {
            if case .told(let progress) = step { return progress }
            step = try await worker.run(for: owner) { worker throws(AssetStoreError) in
                try worker.progress(of: upload)
            }
        }
    }

    // MARK: AssetStore

    package func progress(of upload: AssetUpload) async throws(AssetStoreError) -> AssetProgress {
        try await toEnd(upload) { worker throws(AssetStoreError) in try worker.progress(of: upload) }
    }

    package func append(
        _ chunk: ArraySlice<UInt8>, at offset: Int64, to upload: AssetUpload
    ) async throws(AssetStoreError) -> AssetProgress {
        try await toEnd(upload) { worker throws(AssetStoreError) in
            try worker.append(chunk, at: offset, to: upload)
        }
    }

    package func read(
        _ asset: AssetKey, at offset: Int64, count: Int, after head: [UInt8], for owner: WorkOwner
    ) async throws(AssetStoreError) -> [UInt8] {
        try await worker(for: asset.content.sha256).run(for: owner) { worker throws(AssetStoreError) in
            try worker.read(asset, at: offset, count: count, after: head)
        }
    }

    package func checksum(
        of asset: AssetKey, for owner: WorkOwner
    ) async throws(AssetStoreError) -> [UInt8]? {
        try await worker(for: asset.content.sha256).run(for: owner) { worker throws(AssetStoreError) in
            try worker.checksum(of: asset)
        }
    }

    package func remove(_ asset: AssetKey) async throws(AssetStoreError) {
        try await worker(for: asset.content.sha256).run { worker throws(AssetStoreError) in
            try FileCalls.remove(worker.layout.file(of: asset))
        }
    }

    package func forEachBatch(_ body: @Sendable ([AssetKey]) async -> Bool) async throws(AssetStoreError) {
        let layout = layout
        let worker = workers[0]
        for database in try await worker.run({ _ in layout.databases() }) {
            for shelf in try await worker.run({ _ in layout.shelves(of: database) }) {
                let assets = try await worker.run { _ in layout.assets(of: database, on: shelf) }
                for start in stride(from: 0, to: assets.count, by: 500) {
                    guard await body(Array(assets[start..<min(start + 500, assets.count)])) else { return }
                }
            }
        }
    }

    package func expireUploads(idleFor idle: Duration) async throws(AssetStoreError) {
        let layout = layout
        let deadline = FileCalls.nowSeconds - idle.components.seconds
        for folder in try await workers[0].run({ _ in layout.uploadFolders() }) {
            try await removeUploads(in: folder, before: deadline)
        }
        for database in try await workers[0].run({ _ in layout.databases() }) {
            for folder in try await workers[0].run({ _ in layout.olderUploadFolders(of: database) }) {
                try await removeUploads(in: folder, before: deadline)
            }
        }
    }

    private func removeUploads(in folder: String, before deadline: Int64) async throws(AssetStoreError) {
        let (layout, worker) = (layout, workers[0])
        let paths = try await worker.run { _ in layout.uploads(in: folder) }
        for start in stride(from: 0, to: paths.count, by: Self.uploadsPerStep) {
            let some = paths[start..<min(start + Self.uploadsPerStep, paths.count)]
            try await worker.run { _ throws(AssetStoreError) in try layout.removeUploads(some, before: deadline) }
        }
    }
}
