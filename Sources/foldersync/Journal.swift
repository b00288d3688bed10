// SPDX-License-Identifier: Apache-2.0

import CloudKit

/// What this device knows: each file as it was synced last, and the engine's state, in one file.
///
/// Lines of JSON are appended, the newest for a path counts; the engine's state stands behind the files that it covers, so
/// that after a crash the state is never ahead of the files. From time to time the file is written anew. Used by one
/// `Syncer` alone.
final class Journal: @unchecked Sendable {
    struct Entry: Codable {
        let path: String
        /// Of the content that file and record had in common last; nil if the file did not exist.
        var hash: String?
        /// Of content that was handed to the engine: after a crash it may or may not be on the server. If it comes back
        /// from there, it is ours, not somebody else's.
        var sending: String?
        /// The archived system fields of the record: identity and tag, without which a save would be a conflict.
        private var systemFields: Data?
        /// Size and time of the file when ``hash`` was taken: while they stay, the file need not be read.
        var stat: FileTree.Stat?

        init(path: String, hash: String? = nil, systemFields record: CKRecord? = nil, stat: FileTree.Stat? = nil) {
            self.path = path
            self.hash = hash
            self.stat = stat
            if let record { remember(record) }
        }

        /// The record with its system fields alone, ready to be filled and saved.
        var record: CKRecord? {
            guard let systemFields, let coder = try? NSKeyedUnarchiver(forReadingFrom: systemFields) else { return nil }
            coder.requiresSecureCoding = true
            defer { coder.finishDecoding() }
            return CKRecord(coder: coder)
        }

        mutating func remember(_ record: CKRecord) {
            let coder = NSKeyedArchiver(requiringSecureCoding: true)
            record.encodeSystemFields(with: coder)
            coder.finishEncoding()
            systemFields = coder.encodedData
        }

        mutating func forgetRecord() {
            systemFields = nil
            hash = nil
            sending = nil
            stat = nil
        }
    }

    private struct Line: Codable {
        var entry: Entry?
        var engine: CKSyncEngine.State.Serialization?
    }

    private let url: URL
    private var handle: FileHandle
    private var entries: [String: Entry] = [:]
    private var pathsByRecordName: [String: String] = [:]
    private var unsaved: Set<String> = []
    private var engineStateIsUnsaved = false
    private var lineCount = 0

    var engineState: CKSyncEngine.State.Serialization? {
        didSet { engineStateIsUnsaved = true }
    }

    /// Reads what is there; a last line that a crash cut short is passed over.
    init(directory: URL) throws {
        url = directory.appendingPathComponent("journal")
        if !FileManager.default.fileExists(atPath: url.path) {
            guard FileManager.default.createFile(atPath: url.path, contents: nil) else {
                throw FolderSyncError.cannotPersist("cannot create \(url.path)")
            }
        }
        handle = try FileHandle(forWritingTo: url)
        for line in try Data(contentsOf: url).split(separator: UInt8(ascii: "\n")) {
            lineCount += 1
            guard let line = try? JSONDecoder().decode(Line.self, from: line) else { continue }
            if let entry = line.entry { remember(entry) }
            if let engine = line.engine { engineState = engine }
        }
        unsaved = []
        engineStateIsUnsaved = false
        try rewrite()
    }

    var paths: Set<String> { Set(entries.keys) }

    subscript(path: String) -> Entry? {
        get { entries[path] }
        set {
            guard let newValue else { return }
            remember(newValue)
        }
    }

    subscript(id: CKRecord.ID) -> Entry? {
        pathsByRecordName[id.recordName].flatMap { entries[$0] }
    }

    private func remember(_ entry: Entry) {
        entries[entry.path] = entry
        pathsByRecordName[FileRecord.id(of: entry.path, in: .default).recordName] = entry.path
        unsaved.insert(entry.path)
    }

    /// The zone is gone: the files stay, the records that they were are forgotten.
    func forgetRecords() {
        for var entry in entries.values {
            entry.forgetRecord()
            remember(entry)
        }
    }

    func forgetEverything() {
        forgetRecords()
        engineState = nil
    }

    /// Writes what changed since the last call, files first.
    func persist() throws {
        if lineCount > 2 * entries.count + 1_000 { return try rewrite() }
        var text = Data()
        for path in unsaved.sorted() { try append(Line(entry: entries[path]), to: &text) }
        if engineStateIsUnsaved { try append(Line(engine: engineState), to: &text) }
        guard !text.isEmpty else { return }
        try handle.write(contentsOf: text)
        try handle.synchronize()
        unsaved = []
        engineStateIsUnsaved = false
    }

    private func append(_ line: Line, to text: inout Data) throws {
        text.append(try JSONEncoder().encode(line))
        text.append(UInt8(ascii: "\n"))
        lineCount += 1
    }

    private func rewrite() throws {
        lineCount = 0
        var text = Data()
        for entry in entries.values.sorted(by: { $0.path < $1.path }) { try append(Line(entry: entry), to: &text) }
        if let engineState { try append(Line(engine: engineState), to: &text) }
        try text.write(to: url, options: .atomic)
        try handle.close()
        handle = try FileHandle(forWritingTo: url)
        try handle.seekToEnd()
        unsaved = []
        engineStateIsUnsaved = false
    }
}
