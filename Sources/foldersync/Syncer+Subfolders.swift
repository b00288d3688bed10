// SPDX-License-Identifier: Apache-2.0

import CloudKit

/// Keeps each file below the record of the directory that is shared by itself (``SubfolderRecord``).
///
/// The command that shares a directory makes its record and the share. The devices of the owner put the files below it, once
/// they have heard of it. Guests make new files below it, and move none.
extension Syncer {
    /// The record below which a file belongs: that of the nearest directory that has one.
    func parentID(of path: RelativePath) -> CKRecord.ID? {
        path.directories.last(where: journal.subfolders.contains).map { SubfolderRecord.id(of: $0, in: zoneID) }
    }

    /// Where the record of a file still has to go; nil if it is there, or if this account does not decide it.
    func newParent(of entry: Journal.Entry) -> CKRecord.ID? {
        guard !place.isShared, entry.tag != nil, entry.receiving == nil, let parent = parentID(of: entry.path),
            entry.parentName != parent.recordName
        else { return nil }
        return parent
    }

    /// Puts files below directories that have become known, and files that have arrived below those that are known.
    func putInPlace(_ records: [CKRecord]) {
        let found = Set(records.compactMap(SubfolderRecord.path)).subtracting(journal.subfolders)
        journal.subfolders.formUnion(found)
        let arrived = records.compactMap(FileRecord.path)
        let paths = journal.paths.filter { $0.isBelow(found) }.union(arrived)
        pend(paths.filter { path in journal[path].map { newParent(of: $0) != nil } ?? false }.sorted())
    }

    /// The server does not have the record of the directory above a file any more.
    ///
    /// - Returns: false if none is known.
    func forgetSubfolder(above id: CKRecord.ID) -> Bool {
        guard let path = journal[id]?.path.directories.last(where: journal.subfolders.contains) else { return false }
        journal.subfolders.remove(path)
        return true
    }

    func subfolderIsGone(_ id: CKRecord.ID) {
        journal.subfolders = journal.subfolders.filter { SubfolderRecord.id(of: $0, in: zoneID) != id }
    }

    /// Everything has arrived again. Directories that are not among it are not shared with this account any more, or are not in
    /// the backup to which the server went back.
    func subfoldersNotFetched(_ fetch: TidemarkFullFetch) -> Set<RelativePath> {
        let ended = journal.subfolders.filter { path in
            !fetch.recordIDsNotFetched(among: [SubfolderRecord.id(of: path, in: zoneID)]).isEmpty
        }
        journal.subfolders.subtract(ended)
        guard place.isShared, fetch.reason == .deletionsForgotten else { return [] }
        for path in ended.sorted() { report.line("\(path) is not shared with this account any more; its files stay") }
        return ended
    }

    /// Why the server does not take a file from this account.
    func whyNot(_ path: RelativePath) -> String {
        if journal.subfolders.isEmpty || parentID(of: path) != nil {
            return "this account may only read the folder \(zoneID.zoneName)"
        }
        return "it is in no directory of the folder \(zoneID.zoneName) that is shared with this account"
    }
}
