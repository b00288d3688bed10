// SPDX-License-Identifier: Apache-2.0

import CloudKit

/// What happens in a shared folder that this account may only read.
extension Syncer {
    /// The server refused a change. The person is told of each: it is tried once. The file gets the server's version
    /// back (``fetchMissing()``), and what was made of it here is kept beside it. A file that is new here stays where it
    /// is.
    ///
    /// Neither is sent until this account may write.
    func mayNotSave(_ id: CKRecord.ID) {
        guard var entry = journal[id] else { return }
        let version = underWay.removeValue(forKey: id)?.version
        entry.answered()
        entry.refused = Journal.Entry.Refused(version: version)
        if let tag = entry.tag { entry.receiving = Journal.Entry.Arrival(version: nil, unreadTag: tag) }
        journal[id] = entry
        report.problem("\(entry.path): not sent, because \(whyNot(entry.path))")
    }

    /// Whether the server refused a change because this account may only read the folder.
    func isReadOnly(_ error: CKError) -> Bool { place.isShared && error.code == .permissionFailure }

    /// Whether what is here cannot be sent, and so gives way to the record.
    func givesWay(_ entry: Journal.Entry, to meeting: Meeting) -> Bool {
        entry.refused != nil && meeting == .keepFile && tree.obstacle(to: entry.path) == nil
    }

    /// A file that gave way to the server's version.
    func keepUnsent(_ kept: FileTree.Kept) {
        var copy = journal[kept.newPath] ?? Journal.Entry(path: kept.newPath)
        copy.refused = Journal.Entry.Refused(version: tree.look(at: kept.newPath).version)
        journal[kept.newPath] = copy
        guard kept.newPath != kept.path else { return }
        report.line(
            "\(kept.path) has the server's version again; this device's is kept as \(kept.newPath), and not sent")
    }

    /// The share of the folder has changed: what was refused may be allowed now.
    func take(_ share: CKShare) {
        guard place.isShared, share.recordID.zoneID == zoneID,
            share.currentUserParticipant?.permission == .readWrite
        else { return }
        let paths = journal.refusedPaths
        for path in paths { journal[path]?.refused = nil }
        note(paths)
    }
}
