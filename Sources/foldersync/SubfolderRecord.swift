// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CloudKit

/// The form of a directory as a record. Only a directory that is shared by itself has one: it is the root of the share, and
/// the parent of the records of all files below it.
///
/// The record stays when the sharing ends, so that a new share is at once one of all files.
///
/// | key | value |
/// | --- | --- |
/// | `path` | relative to the folder, with "/" |
enum SubfolderRecord {
    static let type = "Folder"

    static func name(of path: RelativePath) -> String { "folder-" + FileRecord.name(of: path) }

    static func id(of path: RelativePath, in zoneID: CKRecordZone.ID) -> CKRecord.ID {
        CKRecord.ID(recordName: name(of: path), zoneID: zoneID)
    }

    static func make(_ path: RelativePath, in zoneID: CKRecordZone.ID) -> CKRecord {
        let record = CKRecord(recordType: type, recordID: id(of: path, in: zoneID))
        record["path"] = path.text
        return record
    }

    /// The directory that a record is about; nil if the record is not of this program.
    static func path(of record: CKRecord) -> RelativePath? {
        guard record.recordType == type, let text = record["path"] as? String else { return nil }
        let path = RelativePath(text)
        return path.isSafe && name(of: path) == record.recordID.recordName ? path : nil
    }
}

/// Which directory of a folder a command is about.
struct SubfolderOption: ParsableArguments {
    @Option(help: "Only this directory in the folder, as a path relative to it.")
    var subfolder: String?

    /// Nil: the whole folder.
    var path: RelativePath? {
        // A shell completes the name of a directory with a slash.
        subfolder.map { RelativePath($0.hasSuffix("/") ? String($0.dropLast()) : $0) }
    }

    func validate() throws {
        guard let path, !path.isSafe else { return }
        throw ValidationError("--subfolder takes the path of a directory, relative to the folder: photos/2026")
    }
}
