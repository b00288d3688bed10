// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkFields
internal import TidemarkScheduling
internal import TidemarkService
internal import TidemarkSockets

/// A thread that works on files, with the uploads that are open on it. Everything except ``run(_:)`` runs on the
/// thread.
final class FileWorker: @unchecked Sendable {
    let layout: FileLayout
    let loop: EventLoop
    private var uploads: [AssetUpload.Key: FileUpload] = [:]
    private var shelves = DurableShelves()
    /// Makes the names in a directory durable.
    private let synchronize: @Sendable (String) throws(AssetStoreError) -> Void

    /// Uploads that may be open at once: in all, and of one database (I-7). More: `busy`, unless one is idle.
    private static let uploadsMax = 256
    private static let uploadsOfDatabaseMax = 32
    private let idleMax: Duration
    private let uploadBytesMax: Int64
    private var isWatchingIdle = false

    /// - Parameter idleMax: after this time the file of an idle upload is closed, so that the device can continue with
    ///   another server. If it continues here, the file is opened and read again.
    init(
        layout: FileLayout, loop: EventLoop, idleMax: Duration, uploadBytesMax: Int64,
        synchronize: @escaping @Sendable (String) throws(AssetStoreError) -> Void
    ) {
        self.synchronize = synchronize
        self.uploadBytesMax = uploadBytesMax
        self.layout = layout
        self.loop = loop
        self.idleMax = idleMax
    }

    func run<Value: Sendable>(
        _ work: @escaping @Sendable (FileWorker) throws(AssetStoreError) -> Value
    ) async throws(AssetStoreError) -> Value {
        try await loop.run { [self] in
            Result { () throws(AssetStoreError) in try work(self) }
        }.value.get()
    }

    // MARK: Uploads

    func progress(of upload: AssetUpload) throws(AssetStoreError) -> AssetProgress {
        if isThere(upload) { return try leave(upload) }
        guard uploads[upload.key] != nil || FileCalls.status(of: layout.file(of: upload.key)) != nil else {
            return AssetProgress(byteCount: 0, isComplete: false)
        }
        return try goOn(upload, try open(upload.key))
    }

    func append(
        _ chunk: ArraySlice<UInt8>, at offset: Int64, to upload: AssetUpload
    ) throws(AssetStoreError) -> AssetProgress {
        if uploads[upload.key] == nil, isThere(upload) { return try leave(upload) }
        let file = try open(upload.key)
        if offset == file.byteCount { try file.append(chunk) }
        return try goOn(upload, file)
    }

    /// An upload is complete only if its hash is known, or if its content is to name it.
    private func goOn(_ upload: AssetUpload, _ file: FileUpload) throws(AssetStoreError) -> AssetProgress {
        if file.isWhole, upload.asset != nil || (upload.isNamedByContent && file.cameWithoutBreak) {
            return try complete(upload, file)
        }
        return AssetProgress(byteCount: file.byteCount, isComplete: false)
    }

    /// The asset already exists: drops what was uploaded of it.
    private func leave(_ upload: AssetUpload) throws(AssetStoreError) -> AssetProgress {
        // Whoever gave it its name may not have made the name durable yet.
        if let asset = upload.asset { try makeDurable(shelf: layout.shelf(of: asset)) }
        uploads[upload.key] = nil
        try FileCalls.remove(layout.file(of: upload.key))
        return .complete(upload)
    }

    /// Whether the upload's asset exists, and counts for this upload.
    private func isThere(_ upload: AssetUpload) -> Bool {
        guard upload.countsExisting, let asset = upload.asset else { return false }
        return FileCalls.status(of: layout.file(of: asset))?.byteCount == asset.content.byteCount
    }

    private func open(_ key: AssetUpload.Key) throws(AssetStoreError) -> FileUpload {
        if let upload = uploads[key] {
            upload.lastUsed = loop.now
            return upload
        }
        if isFull(key.database) {
            closeIdle()
            if isFull(key.database) { throw AssetStoreError(.busy) }
        }
        try FileCalls.makeDirectory(layout.uploads(of: key.database))
        let path = layout.file(of: key)
        let others = layout.uploads(to: key.database, by: key.owner).filter { $0.path != path }
        let room = max(0, uploadBytesMax - key.byteCount)
        guard try layout.makeRoom(for: room, among: others) else { throw AssetStoreError(.crowded) }
        let upload = try FileUpload(path: path, byteCount: key.byteCount, now: loop.now)
        uploads[key] = upload
        watchIdle()
        return upload
    }

    private func isFull(_ database: DatabaseID) -> Bool {
        uploads.count >= Self.uploadsMax
            || uploads.keys.count { $0.database == database } >= Self.uploadsOfDatabaseMax
    }

    /// Moves a complete file into its place. The file becomes durable before its name does. If the content is there
    /// already, it takes the same time, and one copy stays.
    private func complete(_ upload: AssetUpload, _ file: FileUpload) throws(AssetStoreError) -> AssetProgress {
        let sha256 = try file.finish(upload.asset?.content.sha256, keeping: upload.checksum)
        guard let asset = upload.asset ?? upload.named(sha256).asset else { throw AssetStoreError(.modified) }
        uploads[upload.key] = nil
        let shelf = layout.shelf(of: asset)
        try FileCalls.makeDirectory(shelf)
        try FileCalls.rename(file.path, to: layout.file(of: asset))
        try makeDurable(shelf: shelf)
        return .complete(upload, sha256: upload.asset == nil ? sha256 : nil)
    }

    /// The names on a shelf, and its own, survive a loss of power.
    private func makeDurable(shelf: String) throws(AssetStoreError) {
        try synchronize(shelf)
        try shelves.keep(shelf, in: layout.holders(ofShelf: shelf), synchronize)
    }

    /// Closes the files of idle uploads.
    private func closeIdle() {
        let now = loop.now
        uploads = uploads.filter { now - $0.value.lastUsed < idleMax }
    }

    /// Closes idle uploads in time, as long as there are any.
    private func watchIdle() {
        guard !isWatchingIdle, let oldest = uploads.values.map(\.lastUsed).min() else { return }
        isWatchingIdle = true
        loop.schedule(after: max(.milliseconds(10), oldest + idleMax - loop.now)) { [weak self] in
            guard let self else { return }
            isWatchingIdle = false
            closeIdle()
            watchIdle()
        }
    }

    // MARK: Downloads

    func checksum(of asset: AssetKey) throws(AssetStoreError) -> [UInt8]? {
        let descriptor = try FileCalls.openReading(layout.file(of: asset))
        defer { FileCalls.close(descriptor) }
        return FileLayout.checksum(keptWith: descriptor)
    }

    func read(
        _ asset: AssetKey, at offset: Int64, count: Int, after head: [UInt8]
    ) throws(AssetStoreError) -> [UInt8] {
        let descriptor = try FileCalls.openReading(layout.file(of: asset))
        defer { FileCalls.close(descriptor) }
        let count = Int(min(Int64(count), max(0, asset.content.byteCount - offset)))
        var failure: AssetStoreError?
        let bytes = [UInt8](unsafeUninitializedCapacity: head.count + count) { buffer, filled in
            let place = UnsafeMutableRawBufferPointer(buffer)
            place.copyBytes(from: head)
            do throws(AssetStoreError) {
                let rest = UnsafeMutableRawBufferPointer(rebasing: place[head.count...])
                filled = head.count + (try FileCalls.read(descriptor, into: rest, at: offset))
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        guard bytes.count == head.count + count else { throw AssetStoreError(.missing, detail: "a file was cut short") }
        return bytes
    }
}
