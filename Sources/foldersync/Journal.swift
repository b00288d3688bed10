// SPDX-License-Identifier: Apache-2.0

import CloudKit
import Glibc

/// What this device knows: each file as it was synced last, and the engine's state, in one file.
///
/// Lines of JSON are appended, the newest for a path counts; the engine's state stands behind the files that it covers, so
/// that after a crash the state is never ahead of the files. From time to time the file is written anew. Used by one
/// `Syncer` alone.
final class Journal: @unchecked Sendable {
    struct Entry: Codable {
        let path: RelativePath
        /// What file and record had in common last; nil if there was no file.
        var version: String?
        /// What the file was when it had ``version``: while it stays, the file need not be read.
        var stat: FileTree.Stat?
        /// What was handed to the engine and not acknowledged. The server may have it all the same: then the record that
        /// comes back is our own, and not a conflict with somebody else.
        private(set) var sent: [Sent] = []
        /// What was about to be written to the file; nil once it is.
        var receiving: Arrival?
        /// The archived system fields of the record: identity and tag, without which a save would be a conflict.
        private var systemFields: Data?
        private(set) var tag: String?

        struct Sent: Codable {
            let version: String
            let stat: FileTree.Stat?
        }

        /// What a record says of the file; nil: there is none.
        struct Arrival: Codable, Equatable {
            let version: String?
        }

        init(path: RelativePath) {
            self.path = path
        }

        /// Whether a file of that version (nil: none) is something that the server may not have.
        func differs(from version: String?) -> Bool {
            version != self.version || sent.contains { $0.version != version }
        }

        /// The record with its system fields alone, ready to be filled and saved.
        var record: CKRecord? {
            guard let systemFields, let coder = try? NSKeyedUnarchiver(forReadingFrom: systemFields) else { return nil }
            coder.requiresSecureCoding = true
            defer { coder.finishDecoding() }
            return CKRecord(coder: coder)
        }

        /// The record is as the server has it, and says `version`.
        mutating func remember(_ record: CKRecord, version: String?) {
            let coder = NSKeyedArchiver(requiringSecureCoding: true)
            record.encodeSystemFields(with: coder)
            coder.finishEncoding()
            systemFields = coder.encodedData
            tag = record.recordChangeTag
            self.version = version
            stat = nil
            receiving = nil
        }

        /// The program was ended after it had written the file, and before it could write that down: what is there was
        /// received, and not made here. The record comes again.
        mutating func recover(_ file: String?) {
            guard let receiving, receiving.version == file else { return }
            version = file
            stat = nil
        }

        mutating func sending(_ file: FileTree.File) {
            sent.removeAll { $0.version == file.version }
            // Only the last few can still be under way.
            sent = sent.suffix(7) + [Sent(version: file.version, stat: file.stat)]
        }

        /// The server has answered: nothing is under way any more.
        mutating func answered() {
            sent = []
        }

        mutating func forgetRecord() {
            self = Entry(path: path)
        }
    }

    private struct Line: Codable {
        var zone: String?
        var entry: Entry?
        var engine: CKSyncEngine.State.Serialization?
    }

    private let zoneName: String
    private let path: String
    private var handle: FileHandle
    private let lock: FileHandle
    /// By the names of their records.
    private var entries: [String: Entry] = [:]
    private var unsaved: Set<String> = []
    private var engineStateIsUnsaved = false
    private var lineCount = 0
    /// What was wrong with the file when it was read; nil: nothing.
    private(set) var damage: Damage?

    struct Damage {
        let lineCount: Int
        /// Where the file is now, as it was.
        let keptPath: String
    }

    var engineState: CKSyncEngine.State.Serialization? {
        didSet { engineStateIsUnsaved = true }
    }

    /// Reads what is there; a last line that a crash cut short is passed over.
    ///
    /// Of a line that is damaged it is not known which file it was of. The engine's state goes, so that all records come again
    /// and none is missed; the file as it was is kept.
    init(directory: String, zoneName: String) throws {
        self.zoneName = zoneName
        path = "\(directory)/journal"
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
        var damagedCount = 0
        for (index, line) in lines.enumerated() where !line.isEmpty {
            guard let line = try? decoder.decode(Line.self, from: line) else {
                // What has no end was being written when the program ended.
                if index + 1 < lines.count { damagedCount += 1 }
                continue
            }
            if let zone = line.zone, zone != zoneName { throw FolderSyncError.otherZone(zone) }
            if let entry = line.entry { entries[FileRecord.name(of: entry.path)] = entry }
            if let engine = line.engine { engineState = engine }
        }
        return damagedCount
    }

    /// - Returns: under which name the file is kept: the first one that is free.
    private func keepAside() throws -> String {
        for number in 1...99 {
            let name = "\(path).damaged" + (number == 1 ? "" : "-\(number)")
            if (try? FileManager.default.copyItem(atPath: path, toPath: name)) != nil { return name }
        }
        throw FolderSyncError.cannotPersist("\(path) is damaged, and cannot be copied to \(path).damaged")
    }

    private static let lockAttempts = 50
    private static let lockPauseMicroseconds: UInt32 = 10_000

    /// A process that is just being started by this one holds, for a moment, all that this one has open.
    private static func take(_ lock: FileHandle) -> Bool {
        for _ in 0..<lockAttempts {
            if flock(lock.fileDescriptor, LOCK_EX | LOCK_NB) == 0 { return true }
            usleep(lockPauseMicroseconds)
        }
        return false
    }

    /// Closed on exec, because nobody else may hold the lock.
    private static func open(_ path: String, _ flags: Int32) throws -> FileHandle {
        let descriptor = Glibc.open(path, O_RDWR | O_CLOEXEC | flags, 0o600)
        guard descriptor >= 0 else {
            throw FolderSyncError.cannotPersist("\(path): \(String(cString: strerror(errno)))")
        }
        return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    var paths: Set<RelativePath> { Set(entries.values.map(\.path)) }

    /// Whose files are not yet what their records were when they came.
    var arrivals: [RelativePath: Entry.Arrival] {
        entries.values.reduce(into: [:]) { $0[$1.path] = $1.receiving }
    }

    /// Of the records that were on the server when they were synced last.
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

    /// The zone is gone: the files stay, the records that they were are forgotten.
    func forgetRecords() {
        for name in entries.keys { self[recordName: name]?.forgetRecord() }
    }

    func forgetEverything() {
        forgetRecords()
        engineState = nil
    }

    /// Writes what changed since the last call, files first. What was written survives the end of this program; with the
    /// engine's state it survives the end of the machine as well.
    func persist() throws {
        if lineCount > 2 * entries.count + 1_000 { return try rewrite() }
        // No line can say that there is no state any more: those before it would count again.
        if engineStateIsUnsaved, engineState == nil { return try rewrite() }
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

    /// Everything into a new file, which then takes the place of the old one in one step.
    private func rewrite() throws {
        lineCount = 0
        var text = Data()
        let encoder = JSONEncoder()
        try append(Line(zone: zoneName), to: &text, encoder)
        for entry in entries.values { try append(Line(entry: entry), to: &text, encoder) }
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
    }
}
