// SPDX-License-Identifier: Apache-2.0

import CloudKit
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
    static func id(of path: String, in zoneID: CKRecordZone.ID) -> CKRecord.ID {
        CKRecord.ID(recordName: hash(Data(path.utf8)), zoneID: zoneID)
    }

    static func hash(_ data: Data) -> String {
        SHA256.hash(Array(data)).map { String(format: "%02x", $0) }.joined()
    }

    static func make(from entry: Journal.Entry, file: FileTree.File, in zoneID: CKRecordZone.ID) -> CKRecord {
        let record = entry.record ?? CKRecord(recordType: type, recordID: id(of: entry.path, in: zoneID))
        record["path"] = entry.path
        record["content"] = file.data
        record["isExecutable"] = file.isExecutable
        record["isDeleted"] = false
        return record
    }

    static func makeTombstone(from entry: Journal.Entry, in zoneID: CKRecordZone.ID) -> CKRecord {
        let record = entry.record ?? CKRecord(recordType: type, recordID: id(of: entry.path, in: zoneID))
        record["path"] = entry.path
        record["content"] = nil as Data?
        record["isDeleted"] = true
        return record
    }

    /// What a record says about a file.
    struct Content {
        let path: String
        /// Nil: deleted.
        let data: Data?
        let isExecutable: Bool
        let hash: String?

        var isDeleted: Bool { data == nil }

        /// Nil if the record is not complete enough to be one of ours.
        init?(_ record: CKRecord) {
            guard let path = record["path"] as? String else { return nil }
            self.path = path
            if record["isDeleted"] as? Bool == true {
                data = nil
            } else {
                guard let content = record["content"] as? Data else { return nil }
                data = content
            }
            isExecutable = record["isExecutable"] as? Bool ?? false
            hash = data.map(FileRecord.hash)
        }

        private init(deleted path: String) {
            self.path = path
            data = nil
            isExecutable = false
            hash = nil
        }

        static func deleted(_ path: String) -> Content { Content(deleted: path) }
    }
}
