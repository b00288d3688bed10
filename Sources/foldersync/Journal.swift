// SPDX-License-Identifier: Apache-2.0

import CloudKit
import Glibc

/// This device's knowledge in one file: each file at its last sync, and the engine's state.
///
/// Lines of JSON are appended, and the newest line for a path counts. The engine's state follows the files that it
/// covers, so after a crash the state is never ahead of the files. From time to time the file is rewritten. Only one
/// `Syncer` uses it.
final class Journal: @unchecked Sendable {
    struct Entry: Codable {
        let path: RelativePath
        /// The version that file and record last shared; nil if there was no file.
        var version: String?
        /// The file's stat when it had ``version``. As long as it does not change, the file need not be read.
        var stat: FileTree.Stat?
        /// Versions that were handed to the engine and not acknowledged. The server may have them all the same. Then
        /// the record that comes back is our own, and not a conflict with another device.
        private(set) var sent: [Sent] = []
        /// What is about to be written to the file; nil once it is written.
        var receiving: Arrival?
        /// What the server did not take, because this account may only read the folder; nil if nothing.
        var refused: Refused?
        /// Whether the zone has ended here since that sync, and the record has not come again. Nil for no. Then the
        /// version tells an edit, but not whether somebody wanted a file to be missing.
        private(set) var zoneHasEnded: Bool?
        /// The archived system fields of the record: identity and tag. Without them a save would be a conflict.
        private var systemFields: Data?
        private(set) var tag: String?
        /// The record that the server's record hangs below; nil if there is none (``SubfolderRecord``).
        private(set) var parentName: String?

        struct Sent: Codable {
            let version: String
            let stat: FileTree.Stat?
        }

        struct Refused: Codable {
            /// The file's version; nil if the file was deleted.
            let version: String?
        }

        /// What a record that has arrived says of its file.
        struct Arrival: Codable, Equatable {
            /// The file's version; nil if there is no file, or if the record's content could not be read.
            let version: String?
            /// The tag of a record whose content could not be read; nil for all others.
            var unreadTag: String?

            var isDeletion: Bool { version == nil && unreadTag == nil }
        }

        init(path: RelativePath) {
            self.path = path
        }

        /// Whether a file of that version (nil: no file) may be missing on the server, and should be sent.
        func differs(from version: String?) -> Bool {
            if let refused, refused.version == version { return false }
            if version == nil, zoneHasEnded == true || isAwaited { return false }
            return version != self.version || sent.contains { $0.version != version }
        }

        /// Whether a file is about to be written. The old one may be out of the way already, and a crash may have come
        /// between. So a missing file tells nothing of what somebody wanted.
        var isAwaited: Bool { receiving.map { !$0.isDeletion } ?? false }

        /// The record with its system fields alone, to be filled and saved.
        var record: CKRecord? {
            guard let systemFields, let coder = try? NSKeyedUnarchiver(forReadingFrom: systemFields) else { return nil }
            coder.requiresSecureCoding = true
            defer { coder.finishDecoding() }
            return CKRecord(coder: coder)
        }

        /// The record is the server's, and describes `version`.
        mutating func remember(_ record: CKRecord, version: String?) {
            let coder = NSKeyedArchiver(requiringSecureCoding: true)
            record.encodeSystemFields(with: coder)
            coder.finishEncoding()
            systemFields = coder.encodedData
            tag = record.recordChangeTag
            parentName = record.parent?.recordID.recordName
            self.version = version
            stat = nil
            receiving = nil
            refused = nil
            zoneHasEnded = nil
        }

        mutating func zoneEnded() {
            // A record that was never on the server cannot come again.
            zoneHasEnded = tag == nil ? nil : true
            // All others arrive again.
            receiving = nil
        }

        /// The program ended after it had written the file, and before it could record that: the file was received, not
        /// made here. The record arrives again.
        mutating func recover(_ file: String?) {
            guard let receiving, receiving.unreadTag == nil, receiving.version == file else { return }
            version = file
            stat = nil
        }

        mutating func sending(_ file: FileTree.File) {
            sent.removeAll { $0.version == file.version }
            // Only the last few can still be under way.
            sent = sent.suffix(7) + [Sent(version: file.version, stat: file.stat)]
        }

        /// The server has answered, so nothing is under way any more.
        mutating func answered() {
            sent = []
        }

        mutating func forgetRecord() {
            self = Entry(path: path)
        }
    }

    private struct Line: Codable {
        var zone: String?
        /// Beside `zone`: whose it is; nil: one's own.
        var owner: String?
        var entry: Entry?
        var engine: CKSyncEngine.State.Serialization?
        /// A directory that has a record of its own.
        var subfolder: RelativePath?
    }

    private let place: FolderPlace
    private let path: String
    private var handle: FileHandle
    private let lock: FileHandle
    /// By the names of their records.
    private var entries: [String: Entry] = [:]
    private var unsaved: Set<String> = []
    private var engineStateIsUnsaved = false
    private var subfoldersAreUnsaved = false
    private var lineCount = 0
    /// The damage that was found when the file was read; nil if there was none.
    private(set) var damage: Damage?

    struct Damage {
        let lineCount: Int
        /// Where the damaged file is now.
        let keptPath: String
    }

    var engineState: CKSyncEngine.State.Serialization? {
        didSet { engineStateIsUnsaved = true }
    }

    /// The directories that have records of their own (``SubfolderRecord``).
    var subfolders: Set<RelativePath> = [] {
        didSet { if subfolders != oldValue { subfoldersAreUnsaved = true } }
    }

    /// Reads the existing file. A last line that a crash cut short is skipped.
    ///
    /// It is not known which file a damaged line was about. So the engine's state is dropped: all records arrive again
    /// and none is missed. The damaged file is kept. With a damaged first line nothing is read or changed.
    ///
    /// - Parameter owner: whose zone it is, if somebody else shares the folder (``FolderPlace/owner``).
    init(directory: String, zoneName: String, owner: String? = nil) throws {
        place = FolderPlace(zoneName: zoneName, owner: owner)
        path = Self.path(in: directory)
        lock = try Self.open("\(directory)/lock", O_CREAT)
        guard Self.take(lock) else { throw FolderSyncError.alreadyRunning }
        handle = try Self.open(path, O_CREAT)
        let damagedCount = try read()
        if damagedCount > 0 {
            engineState = nil
            damage = Damage(lineCount: damagedCount, keptPath: try keepAside())
        }
        try rewrite()
    }

    /// - Returns: how many lines cannot be read.
    private func read() throws -> Int {
        let decoder = JSONDecoder()
        let lines = try Data(contentsOf: URL(fileURLWithPath: path))
            .split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        if let known = try Self.place(in: lines, of: path), known != place {
            throw FolderSyncError.otherZone(known.zoneName)
        }
        var damagedCount = 0
        for (index, line) in lines.enumerated() where !line.isEmpty {
            guard let line = try? decoder.decode(Line.self, from: line) else {
                // A line without an end was being written when the program ended.
                if index + 1 < lines.count { damagedCount += 1 }
                continue
            }
            if let entry = line.entry { entries[FileRecord.name(of: entry.path)] = entry }
            if let engine = line.engine { engineState = engine }
            if let subfolder = line.subfolder { subfolders.insert(subfolder) }
        }
        return damagedCount
    }

    private static func path(in directory: String) -> String { "\(directory)/journal" }

    /// The first line is not longer: it has two names.
    private static let firstLineBytesMax = 65_536

    /// The place of a folder at its last sync; nil if it was never synced. Asked without the lock, because the file
    /// always begins with it.
    ///
    /// - Throws: `placeDamaged` if the first line cannot be read.
    static func place(ofFolder folder: String) throws -> FolderPlace? {
        let path = path(in: "\(folder)/\(FileTree.stateDirectoryName)")
        guard let handle = FileHandle(forReadingAtPath: path) else { return nil }
        defer { try? handle.close() }
        let bytes = try handle.read(upToCount: firstLineBytesMax) ?? Data()
        return try place(
            in: bytes.split(separator: UInt8(ascii: "\n"), maxSplits: 1, omittingEmptySubsequences: false), of: path)
    }

    /// What the first line says; nil if the file is empty.
    ///
    /// Nothing else says whose zone it is. To guess could send a shared folder to one's own zone.
    private static func place(in lines: [Data], of path: String) throws -> FolderPlace? {
        guard let first = lines.first, lines.count > 1 || !first.isEmpty else { return nil }
        guard let line = try? JSONDecoder().decode(Line.self, from: first), let zone = line.zone else {
            throw FolderSyncError.placeDamaged(path)
        }
        return FolderPlace(zoneName: zone, owner: line.owner)
    }

    /// - Returns: the name under which the file is kept, the first free one.
    private func keepAside() throws -> String {
        for number in 1...99 {
            let name = "\(path).damaged" + (number == 1 ? "" : "-\(number)")
            if (try? FileManager.default.copyItem(atPath: path, toPath: name)) != nil { return name }
        }
        throw FolderSyncError.cannotPersist("\(path) is damaged, and cannot be copied to \(path).damaged")
    }

    private static let lockAttempts = 50
    private static let lockPauseMicroseconds: UInt32 = 10_000

    /// A process that is just being started by this one briefly holds all its open files.
    private static func take(_ lock: FileHandle) -> Bool {
        for _ in 0..<lockAttempts {
            if flock(lock.fileDescriptor, LOCK_EX | LOCK_NB) == 0 { return true }
            usleep(lockPauseMicroseconds)
        }
        return false
    }

    /// Closed on exec, because no other process may hold the lock.
    private static func open(_ path: String, _ flags: Int32) throws -> FileHandle {
        let descriptor = Glibc.open(path, O_RDWR | O_CLOEXEC | flags, 0o600)
        guard descriptor >= 0 else {
            throw FolderSyncError.cannotPersist("\(path): \(String(cString: strerror(errno)))")
        }
        return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    var paths: Set<RelativePath> { Set(entries.values.map(\.path)) }

    /// Records that have arrived, and whose files have not been written yet.
    var arrivals: [RelativePath: Entry.Arrival] {
        entries.values.reduce(into: [:]) { $0[$1.path] = $1.receiving }
    }

    /// What the server did not take, because this account may only read the folder.
    var refusedPaths: Set<RelativePath> { Set(entries.values.filter { $0.refused != nil }.map(\.path)) }

    /// The records that were on the server at their last sync.
    func recordIDs(in zoneID: CKRecordZone.ID) -> [CKRecord.ID] {
        entries.filter { $1.tag != nil }.keys.sorted().map { CKRecord.ID(recordName: $0, zoneID: zoneID) }
    }

    subscript(path: RelativePath) -> Entry? {
        get { entries[FileRecord.name(of: path)] }
        set { self[recordName: FileRecord.name(of: path)] = newValue }
    }

    subscript(id: CKRecord.ID) -> Entry? {
        get { entries[id.recordName] }
        set { self[recordName: id.recordName] = newValue }
    }

    private subscript(recordName name: String) -> Entry? {
        get { entries[name] }
        set {
            entries[name] = newValue
            unsaved.insert(name)
        }
    }

    /// The zone is gone. The files stay, and their records are forgotten.
    func forgetRecords() {
        for name in entries.keys { self[recordName: name]?.forgetRecord() }
        subfolders = []
    }

    func forgetEverything() {
        forgetRecords()
        engineState = nil
    }

    /// The zone has ended here, and may come again.
    func zoneEnded() {
        for name in entries.keys { self[recordName: name]?.zoneEnded() }
        subfolders = []
        engineState = nil
    }

    /// This account has left the zone of a folder. A foldersync that keeps the folder in sync hears of that by itself.
    static func zoneIsLeft(_ place: FolderPlace, inFolder folder: String) throws {
        guard place.isShared else { return }
        do {
            let directory = "\(folder)/\(FileTree.stateDirectoryName)"
            let journal = try Journal(directory: directory, zoneName: place.zoneName, owner: place.owner)
            journal.zoneEnded()
            try journal.persist()
        } catch FolderSyncError.alreadyRunning {
            return
        }
    }

    /// Files whose records have not come again since the zone ended here.
    var pathsNotReturned: Set<RelativePath> {
        Set(entries.values.filter { $0.zoneHasEnded == true && $0.receiving == nil }.map(\.path))
    }

    /// Writes what changed since the last call, files first. The written data survives the end of this program; with
    /// the engine's state it also survives a crash of the machine.
    func persist() throws {
        if lineCount > 2 * entries.count + 1_000 { return try rewrite() }
        // A line cannot say that there is no state or no subfolder any more: the earlier ones would count again.
        if engineStateIsUnsaved && engineState == nil || subfoldersAreUnsaved { return try rewrite() }
        var text = Data()
        let encoder = JSONEncoder()
        for name in unsaved { try append(Line(entry: entries[name]), to: &text, encoder) }
        if engineStateIsUnsaved { try append(Line(engine: engineState), to: &text, encoder) }
        guard !text.isEmpty else { return }
        try handle.write(contentsOf: text)
        if engineStateIsUnsaved { try handle.synchronize() }
        unsaved = []
        engineStateIsUnsaved = false
    }

    private func append(_ line: Line, to text: inout Data, _ encoder: JSONEncoder) throws {
        text.append(try encoder.encode(line))
        text.append(UInt8(ascii: "\n"))
        lineCount += 1
    }

    /// Writes everything to a new file, which then atomically replaces the old one.
    private func rewrite() throws {
        lineCount = 0
        var text = Data()
        let encoder = JSONEncoder()
        try append(Line(zone: place.zoneName, owner: place.owner), to: &text, encoder)
        for entry in entries.values { try append(Line(entry: entry), to: &text, encoder) }
        for subfolder in subfolders { try append(Line(subfolder: subfolder), to: &text, encoder) }
        if let engineState { try append(Line(engine: engineState), to: &text, encoder) }
        let new = try Self.open("\(path).new", O_CREAT | O_TRUNC)
        try new.write(contentsOf: text)
        try new.synchronize()
        guard rename("\(path).new", path) == 0 else {
            throw FolderSyncError.cannotPersist("\(path): \(String(cString: strerror(errno)))")
        }
        handle = new
        unsaved = []
        engineStateIsUnsaved = false
        subfoldersAreUnsaved = false
    }
}
