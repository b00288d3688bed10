// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Synchronization
internal import TidemarkBytes
internal import TidemarkFields
internal import TidemarkScheduling

/// The directory to which assets are downloaded. An app moves the files that it wants to keep. Files that are a
/// day old are removed from time to time.
///
/// It blocks: use it on ``FileThread`` only.
package final class AssetStaging: Sendable {
    /// In the system's directory for temporary files, one for each user.
    package static let standard = AssetStaging(
        directory: FileManager.default.temporaryDirectory.appendingPathComponent("tidemark-assets-\(getuid())"))

    private static let ageMax: TimeInterval = 86_400
    private static let cleaningInterval: Duration = .seconds(3_600)

    package let directory: URL
    private let clocks: @Sendable () -> Clocks
    private let cleaning: Mutex<Cleaning>

    private struct Cleaning {
        var watch: ClockWatch
        /// Watches for sleep: for the awake clock, the machine's sleep is what being set is for a wall clock.
        var sleepWatch: ClockWatch
        var last: Duration?

        init(_ start: Clocks) {
            watch = ClockWatch(wallClock: start.wall, steady: start.steady)
            sleepWatch = ClockWatch(wallClock: Self.milliseconds(start.steady), steady: start.awake)
        }

        /// Whether files that look old may be removed. Not after the clock was set ahead, because new files then look
        /// old. And not just after the machine has slept, because the app may just have received files before that.
        mutating func isDue(_ now: Clocks) -> Bool {
            let hasRested = sleepWatch.canTell(
                age: AssetStaging.cleaningInterval, wallClock: Self.milliseconds(now.steady), steady: now.awake)
            if let last, now.steady - last < AssetStaging.cleaningInterval { return false }
            last = now.steady
            let canTell = watch.canTell(age: .seconds(AssetStaging.ageMax), wallClock: now.wall, steady: now.steady)
            return canTell && hasRested
        }

        private static func milliseconds(_ time: Duration) -> Int64 { Int64(time / .milliseconds(1)) }
    }

    /// The wall clock in milliseconds since 1970, a clock that nobody sets, and one that stops while the machine
    /// sleeps.
    package typealias Clocks = (wall: Int64, steady: Duration, awake: Duration)

    /// The clocks of this machine.
    package static func systemClocks() -> @Sendable () -> Clocks {
        let (start, awake) = (ContinuousClock.now, SuspendingClock.now)
        return {
            (
                Int64(Date().timeIntervalSince1970 * 1_000), ContinuousClock.now - start,
                SuspendingClock.now - awake
            )
        }
    }

    /// - Parameter clocks: tell how old files are.
    package init(directory: URL, clocks: @escaping @Sendable () -> Clocks = AssetStaging.systemClocks()) {
        self.directory = directory
        self.clocks = clocks
        cleaning = Mutex(Cleaning(clocks()))
    }

    /// A file for this content. It already holds what an earlier download got.
    ///
    /// - Throws: `assetNotAvailable` if it cannot be written; `operationCancelled`.
    func open(_ content: FieldAsset) async throws(CKError) -> StagedAsset {
        try makeDirectory()
        cleanUp()
        let file = try openUnread(content)
        try await file.resume()
        return file
    }

    private func openUnread(_ content: FieldAsset) throws(CKError) -> StagedAsset {
        if let file = try StagedAsset(part(of: content), content) { return file }
        // Somebody else is downloading it, perhaps another process.
        let own = directory.appendingPathComponent("\(UUID().uuidString).part")
        guard let file = try StagedAsset(own, content, isOwn: true) else { throw Self.refused(own.path) }
        return file
    }

    /// Where each download of this content looks for what an earlier one got.
    private func part(of content: FieldAsset) -> URL {
        directory.appendingPathComponent("\(Hex.encode(content.sha256)).\(content.byteCount).part")
    }

    /// Takes back a finished file that no record got: the next download of the content begins with it. If there is one
    /// already, this one is removed.
    func takeBack(_ file: URL, _ content: FieldAsset) {
        let part = part(of: content).path
        // Unlike a new name, a link never takes the place of a file that somebody is writing. Some file systems have no
        // links.
        if link(file.path, part) != 0, access(part, F_OK) != 0 { rename(file.path, part) }
        unlink(file.path)
    }

    /// Another file with the same content. Nothing is left of one that fails.
    ///
    /// - Throws: `assetNotAvailable` if it cannot be written; `operationCancelled`.
    static func copy(_ file: URL) async throws(CKError) -> URL {
        let copy = file.deletingLastPathComponent().appendingPathComponent(UUID().uuidString)
        let source = Foundation.open(file.path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard source >= 0 else { throw refused(copy.path) }
        defer { close(source) }
        let target = Foundation.open(copy.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard target >= 0 else { throw refused(copy.path) }
        defer { close(target) }
        do throws(CKError) {
            try await copyContent(of: source, to: target, copy.path)
        } catch {
            unlink(copy.path)
            throw error
        }
        return copy
    }

    private static func copyContent(of source: Int32, to target: Int32, _ path: String) async throws(CKError) {
        let block = UnsafeMutableRawBufferPointer.allocate(byteCount: StagedAsset.blockBytes, alignment: 64)
        defer { block.deallocate() }
        var status = stat()
        guard fstat(source, &status) == 0 else { throw refused(path) }
        let byteCount = Int64(status.st_size)
        var offset: Int64 = 0
        while offset < byteCount {
            try await FileThread.giveWay()
            let (count, failure) = AssetSource.read(source, block, at: offset)
            guard count > 0 else { throw refused(path, failure ?? EIO) }
            let piece = UnsafeRawBufferPointer(rebasing: block[..<count])
            if let refusal = StagedAsset.write(piece, at: offset, to: target).refusal { throw refused(path, refusal) }
            offset += Int64(count)
        }
    }

    /// Only the user may read it.
    private func makeDirectory() throws(CKError) {
        let path = directory.path
        var status = stat()
        if lstat(path, &status) != 0 {
            try? FileManager.default.createDirectory(
                at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            guard lstat(path, &status) == 0 else { throw Self.refused(path) }
        }
        guard status.st_mode & S_IFMT == S_IFDIR, status.st_uid == getuid() else { throw Self.refused(path) }
    }

    /// Removes old files, at intervals.
    private func cleanUp() {
        let now = clocks()
        let isDue = cleaning.withLock { $0.isDue(now) }
        guard isDue, let names = try? FileManager.default.contentsOfDirectory(atPath: directory.path) else { return }
        let deadline = Double(now.wall) / 1_000 - Self.ageMax
        for name in names {
            let path = directory.appendingPathComponent(name).path
            var status = stat()
            guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { continue }
            if Double(Self.modificationSeconds(status)) < deadline { Self.remove(path) }
        }
    }

    /// Removes it, unless somebody, perhaps another process, is using it.
    private static func remove(_ path: String) {
        let descriptor = Foundation.open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return }
        if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { unlink(path) }
        close(descriptor)
    }

    private static func modificationSeconds(_ status: stat) -> Int {
        #if canImport(Darwin)
            status.st_mtimespec.tv_sec
        #else
            status.st_mtim.tv_sec
        #endif
    }

    /// Why a file cannot be written here.
    static func refused(_ path: String, _ number: Int32 = errno) -> CKError {
        FileFault(number: number).error(
            "The asset cannot be written to \(path).", advice: "Check that the directory belongs to the user.")
    }
}
