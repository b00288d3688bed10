// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkFairness
internal import TidemarkFields
internal import TidemarkScheduling
internal import TidemarkService
internal import TidemarkSockets

/// A thread that works on files, with the uploads that are open on it. Everything except ``run(_:)`` and
/// ``run(for:_:)`` runs on the thread.
final class FileWorker: @unchecked Sendable {
    let layout: FileLayout
    let loop: EventLoop
    let turns: FileTurns
    /// Those whose files are open (I-7, R-717). If there are too many, one rests.
    private var uploads = FairTable<AssetUpload.Key, FileUpload>(count: 256, perOwner: 32)
    /// Those that rest. If there are too many, one is forgotten, so that its file must be read for the hash.
    private var resting = FairTable<AssetUpload.Key, FileUpload>(count: 2_048, perOwner: 512)
    private var shelves = DurableShelves()
    private let durability: FileDurability
    private let idleMax: Duration
    private let uploadBytesMax: Int64
    private var isWatchingIdle = false

    /// - Parameter idleMax: after this time the file of an idle upload is closed, so that the device can continue with
    ///   another server.
    init(
        layout: FileLayout, loop: EventLoop, idleMax: Duration, uploadBytesMax: Int64, bounds: FairBounds,
        durability: FileDurability
    ) {
        turns = FileTurns(bounds, on: loop)
        self.durability = durability
        self.uploadBytesMax = uploadBytesMax
        self.layout = layout
        self.loop = loop
        self.idleMax = idleMax
    }

    /// Runs a work when it is its owner's turn.
    ///
    /// - Throws: `rateLimited` if too many works wait.
    func run<Value: Sendable>(
        for owner: WorkOwner, _ work: @escaping @Sendable (FileWorker) throws(AssetStoreError) -> Value
    ) async throws(AssetStoreError) -> Value {
        try await withCheckedContinuation { (done: CheckedContinuation<Result<Value, AssetStoreError>, Never>) in
            turns.run(for: owner) { [self] refusal in
                done.resume(
                    returning: Result { () throws(AssetStoreError) in
                        if let refusal { throw AssetStoreError(.rateLimited, detail: refusal.description) }
                        return try work(self)
                    })
            }
        }.get()
    }

    /// Runs a work of the server itself. Such works come one after another, so they need no turn: each waits for at
    /// most one work of an owner.
    func run<Value: Sendable>(
        _ work: @escaping @Sendable (FileWorker) throws(AssetStoreError) -> Value
    ) async throws(AssetStoreError) -> Value {
        try await loop.run { [self] in
            Result { () throws(AssetStoreError) in try work(self) }
        }.value.get()
    }

    // MARK: Uploads

    /// How far an upload is, or that its content must be read on.
    enum Step {
        case told(AssetProgress)
        /// Ask for the progress again, when others have had their turn.
        case isReading
    }

    func progress(of upload: AssetUpload) throws(AssetStoreError) -> Step {
        if isThere(upload) { return .told(try leave(upload)) }
        if !uploads.contains(upload.key), try !layout.hasFile(upload) {
            return .told(AssetProgress(byteCount: 0, isComplete: false))
        }
        return try goOn(upload, try open(upload))
    }

    func append(
        _ chunk: ArraySlice<UInt8>, at offset: Int64, to upload: AssetUpload
    ) throws(AssetStoreError) -> Step {
        if !uploads.contains(upload.key), isThere(upload) { return .told(try leave(upload)) }
        let file = try open(upload)
        if offset == file.byteCount { try file.append(chunk) }
        return try goOn(upload, file)
    }

    /// An upload is complete only if its hash is known, or if its content is to name it.
    private func goOn(_ upload: AssetUpload, _ file: FileUpload) throws(AssetStoreError) -> Step {
        guard file.isWhole, upload.asset != nil || (upload.isNamedByContent && file.cameWithoutBreak) else {
            return .told(AssetProgress(byteCount: file.byteCount, isComplete: false))
        }
        guard try file.hashMore() else { return .isReading }
        return .told(try complete(upload, file))
    }

    /// The asset already exists: drops the uploaded bytes.
    private func leave(_ upload: AssetUpload) throws(AssetStoreError) -> AssetProgress {
        // The server that gave it its name may not have made the name durable so far.
        if let asset = upload.asset { try makeDurable(shelf: layout.shelf(of: asset)) }
        forget(upload.key)
        try FileCalls.remove(layout.file(of: upload))
        return .complete(upload)
    }

    /// Whether the upload's asset exists, and counts for this upload.
    private func isThere(_ upload: AssetUpload) -> Bool {
        guard upload.countsExisting, let asset = upload.asset else { return false }
        return FileCalls.status(of: layout.file(of: asset))?.byteCount == asset.content.byteCount
    }

    private func open(_ upload: AssetUpload) throws(AssetStoreError) -> FileUpload {
        let key = upload.key
        if let file = uploads.use(key) {
            file.lastUsed = loop.now
            return file
        }
        let path = layout.file(of: upload)
        // Existing bytes have been counted.
        if try !layout.hasFile(upload) { try makeRoom(for: upload) }
        let file =
            resting.remove(key)
            ?? FileUpload(path: path, byteCount: key.byteCount, owner: upload.workOwner, durability: durability)
        try file.open(now: loop.now)
        guard let gaveWay = uploads.insert(file, for: key, of: file.owner) else {
            rest(file, key)
            throw AssetStoreError(.busy)
        }
        for (key, other) in gaveWay { rest(other, key) }
        watchIdle()
        return file
    }

    /// Among those of the upload's account, in whichever database they are.
    private func makeRoom(for upload: AssetUpload) throws(AssetStoreError) {
        let room = max(0, uploadBytesMax - upload.key.byteCount)
        let others = layout.uploads(of: upload.account)
        guard try layout.makeRoom(for: room, in: others) else { throw AssetStoreError(.crowded) }
    }

    private func forget(_ key: AssetUpload.Key) {
        uploads.remove(key)
        resting.remove(key)
    }

    /// Closes the file of an upload that is no longer in the table of open ones.
    private func rest(_ file: FileUpload, _ key: AssetUpload.Key) {
        file.rest()
        _ = resting.insert(file, for: key, of: file.owner)
    }

    /// Moves a complete file into its place. The file becomes durable before its name does. If the content is there
    /// already, it takes the same time, and one copy stays.
    private func complete(_ upload: AssetUpload, _ file: FileUpload) throws(AssetStoreError) -> AssetProgress {
        let sha256 = try file.finish(upload.asset?.content.sha256, keeping: upload.checksum)
        guard let asset = upload.asset ?? upload.named(sha256).asset else { throw AssetStoreError(.modified) }
        forget(upload.key)
        let shelf = layout.shelf(of: asset)
        try FileCalls.makeDirectory(shelf)
        let place = layout.file(of: asset)
        // An asset that records of others name stays, with its checksum.
        if FileCalls.status(of: place)?.byteCount == asset.content.byteCount {
            try FileCalls.remove(file.path)
        } else {
            try FileCalls.rename(file.path, to: place)
        }
        try makeDurable(shelf: shelf)
        return .complete(upload, sha256: upload.asset == nil ? sha256 : nil)
    }

    /// The names on a shelf, and its own, survive a loss of power.
    private func makeDurable(shelf: String) throws(AssetStoreError) {
        try durability.synchronizeDirectory(shelf)
        try shelves.keep(shelf, in: layout.holders(ofShelf: shelf), durability.synchronizeDirectory)
    }

    /// Closes the files of idle uploads.
    private func closeIdle() {
        let now = loop.now
        for (key, file) in uploads.removeAll(where: { now - $0.lastUsed >= idleMax }) { rest(file, key) }
    }

    /// Closes idle uploads in time, as long as there are any.
    private func watchIdle() {
        guard !isWatchingIdle, let oldest = uploads.values.lazy.map(\.lastUsed).min() else { return }
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

extension AssetUpload {
    /// The owner of its turns and open files.
    var workOwner: WorkOwner { account.map { .account($0.rawValue) } ?? .nobody }
}
