// SPDX-License-Identifier: Apache-2.0

import CloudKit
import TidemarkBytes
import TidemarkCrypto

/// How a file is written as a record.
///
/// | key | value |
/// | --- | --- |
/// | `path` | relative to the folder, with "/" |
/// | `content` | the bytes; absent in a tombstone |
/// | `isExecutable` | 0 or 1 |
/// | `isDeleted` | 1 in a tombstone |
enum FileRecord {
    static let type = "File"
    /// What fits into one record beside its path.
    static let contentBytesMax = 1_000_000

    /// Record names are printable ASCII of limited length; paths are neither. A hash is, and two devices that create the
    /// same path meet in the same record.
    static func id(of path: RelativePath, in zoneID: CKRecordZone.ID) -> CKRecord.ID {
        CKRecord.ID(recordName: name(of: path), zoneID: zoneID)
    }

    static func name(of path: RelativePath) -> String {
        Hex.encode(SHA256.hash(Array(path.text.utf8)))
    }

    /// What two files have in common that need no syncing: the hash of their bytes, and whether they can be executed.
    static func version(of data: Data, isExecutable: Bool) -> String {
        var hash = SHA256()
        data.withUnsafeBytes { hash.update($0) }
        return Hex.encode(hash.finish()) + (isExecutable ? "x" : "")
    }

    /// The record of a file that is there.
    static func make(from entry: Journal.Entry, file: FileTree.File, in zoneID: CKRecordZone.ID) -> CKRecord {
        let record = empty(from: entry, in: zoneID)
        record["content"] = file.data
        record["isExecutable"] = file.isExecutable
        record["isDeleted"] = false
        return record
    }

    /// The record of a file that was deleted.
    static func makeTombstone(from entry: Journal.Entry, in zoneID: CKRecordZone.ID) -> CKRecord {
        let record = empty(from: entry, in: zoneID)
        record["content"] = nil as Data?
        record["isDeleted"] = true
        return record
    }

    /// With the tag of the version that this device knows: the server refuses to replace any other.
    private static func empty(from entry: Journal.Entry, in zoneID: CKRecordZone.ID) -> CKRecord {
        let record = entry.record ?? CKRecord(recordType: type, recordID: id(of: entry.path, in: zoneID))
        record["path"] = entry.path.text
        return record
    }

    /// What a record says about a file.
    struct Content {
        let path: RelativePath
        /// Nil: deleted.
        let data: Data?
        let isExecutable: Bool
        /// Nil: deleted.
        let version: String?

        /// Nil if the record is none that this program could have written: the path leaves the folder, something is
        /// missing, or the name is not the path's.
        init?(_ record: CKRecord) {
            guard let text = record["path"] as? String else { return nil }
            let path = RelativePath(text)
            guard record.recordType == FileRecord.type, path.isSafe,
                FileRecord.name(of: path) == record.recordID.recordName
            else { return nil }
            self.path = path
            isExecutable = record["isExecutable"] as? Bool ?? false
            if record["isDeleted"] as? Bool == true {
                (data, version) = (nil, nil)
            } else {
                guard let content = record["content"] as? Data else { return nil }
                data = content
                version = FileRecord.version(of: content, isExecutable: isExecutable)
            }
        }

        /// The record itself is gone.
        init(deleted path: RelativePath) {
            self.path = path
            (data, version, isExecutable) = (nil, nil, false)
        }
    }
}
