// SPDX-License-Identifier: Apache-2.0

import CloudKit
import Foundation

/// The form of a file as a record.
///
/// | key | value |
/// | --- | --- |
/// | `path` | relative to the folder, with "/" |
/// | `content` | the bytes of a file that fits into a record |
/// | `file` | those of a larger one: an asset |
/// | `isExecutable` | 0 or 1 |
/// | `isDeleted` | 1 in a tombstone, which has neither bytes nor file |
enum FileRecord {
    static let type = "File"
    /// The most bytes that fit in a record beside its path. Larger files are assets, and are never completely in
    /// memory.
    static let contentBytesMax = 1_000_000
    /// The bytes of a large file that are in memory at a time.
    static let blockBytes = 1_048_576

    /// Where the bytes of a file are.
    enum Bytes: Sendable {
        case small(Data)
        case large(URL)
    }

    /// A hash of the path, because record names are printable ASCII of limited length and paths are neither. Two
    /// devices that create the same path use the same record.
    static func id(of path: RelativePath, in zoneID: CKRecordZone.ID) -> CKRecord.ID {
        CKRecord.ID(recordName: name(of: path), zoneID: zoneID)
    }

    static func name(of path: RelativePath) -> String {
        let digest = ContentDigest()
        digest.update(Data(path.text.utf8))
        return digest.finish()
    }

    /// Identifies the content: the digest of the bytes, and whether the file is executable. Two files with the same
    /// version need no sync.
    static func version(of data: Data, isExecutable: Bool) -> String {
        let digest = ContentDigest()
        digest.update(data)
        return version(digest, isExecutable)
    }

    /// The same for a large file, which is read to its end.
    static func version(of file: FileHandle, isExecutable: Bool) throws -> String {
        let digest = ContentDigest()
        while let block = try file.read(upToCount: blockBytes), !block.isEmpty { digest.update(block) }
        return version(digest, isExecutable)
    }

    private static func version(_ digest: consuming ContentDigest, _ isExecutable: Bool) -> String {
        digest.finish() + (isExecutable ? "x" : "")
    }

    /// The record of an existing file.
    static func make(
        from entry: Journal.Entry, file: FileTree.File, in zoneID: CKRecordZone.ID, below parent: CKRecord.ID?
    ) -> CKRecord {
        let record = empty(from: entry, in: zoneID, below: parent)
        switch file.bytes {
        case .small(let data): record["content"] = data
        case .large(let url): record["file"] = CKAsset(fileURL: url)
        }
        record["isExecutable"] = file.isExecutable
        record["isDeleted"] = false
        return record
    }

    /// The record of a deleted file.
    static func makeTombstone(
        from entry: Journal.Entry, in zoneID: CKRecordZone.ID, below parent: CKRecord.ID?
    ) -> CKRecord {
        let record = empty(from: entry, in: zoneID, below: parent)
        record["isDeleted"] = true
        return record
    }

    /// The record with nothing but another parent. What is in the file is not sent.
    static func makeMove(of entry: Journal.Entry, below parent: CKRecord.ID) -> CKRecord? {
        guard let record = entry.record else { return nil }
        record["path"] = entry.path.text
        record.setParent(parent)
        return record
    }

    /// With the tag of the version that this device knows, so that the server refuses to replace any other.
    private static func empty(
        from entry: Journal.Entry, in zoneID: CKRecordZone.ID, below parent: CKRecord.ID?
    ) -> CKRecord {
        let record = entry.record ?? CKRecord(recordType: type, recordID: id(of: entry.path, in: zoneID))
        record["path"] = entry.path.text
        // A parent that is not known here yet stays.
        if let parent { record.setParent(parent) }
        // Only one of them gets a value again. A key that is nil is removed on the server.
        record["content"] = nil as Data?
        record["file"] = nil as CKAsset?
        return record
    }

    /// The file that a record describes.
    struct Content {
        let path: RelativePath
        /// Nil if it was deleted.
        let bytes: Bytes?
        let isExecutable: Bool
        /// Nil if it was deleted.
        let version: String?

        /// Nil if this program cannot have written the record, because the path leaves the folder, something is missing, or the
        /// name does not belong to the path.
        init?(_ record: CKRecord) {
            guard let path = FileRecord.path(of: record) else { return nil }
            self.path = path
            isExecutable = record["isExecutable"] as? Bool ?? false
            if record["isDeleted"] as? Bool == true {
                (bytes, version) = (nil, nil)
                return
            }
            if let data = record["content"] as? Data {
                bytes = .small(data)
                version = FileRecord.version(of: data, isExecutable: isExecutable)
            } else {
                guard let url = (record["file"] as? CKAsset)?.fileURL, let file = try? FileHandle(forReadingFrom: url),
                    let version = try? FileRecord.version(of: file, isExecutable: isExecutable)
                else { return nil }
                bytes = .large(url)
                self.version = version
            }
        }

        /// The record itself is gone.
        init(deleted path: RelativePath) {
            self.path = path
            (bytes, version, isExecutable) = (nil, nil, false)
        }
    }

    /// All but the asset of a large file.
    static let keysWithoutFile: [CKRecord.FieldKey] = ["path", "content", "isExecutable", "isDeleted"]

    /// Whether the content of the file is an asset, fetched or not.
    static func isLarge(_ record: CKRecord) -> Bool {
        record["isDeleted"] as? Bool != true && record["content"] as? Data == nil
    }

    /// Whether the record has the content of the file. A record in an error has no asset files.
    static func isComplete(_ record: CKRecord) -> Bool {
        guard let asset = record["file"] as? CKAsset else { return true }
        return asset.fileURL != nil
    }

    /// Removes the file that came with a record, unless it has been used.
    static func discardFile(of record: CKRecord) {
        guard let url = (record["file"] as? CKAsset)?.fileURL else { return }
        try? FileManager.default.removeItem(at: url)
    }

    /// The file that a record is about; nil if the record is not of this program.
    static func path(of record: CKRecord) -> RelativePath? {
        guard let text = record["path"] as? String else { return nil }
        let path = RelativePath(text)
        return record.recordType == type && path.isSafe && name(of: path) == record.recordID.recordName ? path : nil
    }
}
