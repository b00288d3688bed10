// SPDX-License-Identifier: Apache-2.0

import CloudKit

/// What happens when the zone ends, and when a folder is shared with this account again.
extension Syncer {
    /// Somebody deleted the zone on purpose, or the folder is not shared with this account any more: nothing is sent again
    /// unless the person here starts the program again. That start is like the first one, which creates the zone, so the
    /// engine's state is dropped too.
    ///
    /// The zone of a shared folder may be shared with this account again. Then the versions of the last sync tell what
    /// was deleted or edited there since, and edited here. They do not tell what was deleted here: whoever has left a folder
    /// may delete its files here, and does not want the others to lose theirs.
    func zoneEnded() {
        if place.isShared { journal.zoneEnded() } else { journal.forgetEverything() }
        persist()
        finish(
            place.isShared
                ? FolderSyncError.notShared(zoneID.zoneName) : FolderSyncError.zoneDeleted(zoneID.zoneName))
    }

    /// The folder was not shared with this account for a while, and is again. All records arrive anew, and what is missing here
    /// was not meant to be missing for all (``zoneEnded()``).
    func zoneCameBack() {
        report.line("the folder is shared with this account again; all files are compared with the server")
        journal.zoneEnded()
        persist()
    }

    /// Ends if the folder is not shared with this account: an engine says nothing of a zone that it never had.
    func checkAccess(_ engine: CKSyncEngine) async throws {
        guard place.isShared, !hasFailed else { return }
        do {
            _ = try await engine.database.recordZone(for: zoneID)
        } catch let error as CKError where error.code == .zoneNotFound {
            zoneEnded()
        }
    }

    /// Whether a file that is missing here comes again with its record, if nobody here may have wanted it to be missing.
    func comesAgain(_ content: FileRecord.Content, _ meeting: Meeting) -> Bool {
        guard meeting == .keepFile, content.version != nil, case .missing = tree.look(at: content.path) else {
            return false
        }
        return true
    }

    /// All records of the zone have arrived. Those that were known before it ended and did not come again are not in it.
    /// It may be another zone, which the owner has made anew under its name. So their files are sent as new ones.
    func zoneReturned() {
        let paths = journal.pathsNotReturned
        guard !paths.isEmpty else { return }
        for path in paths { journal[path]?.forgetRecord() }
        note(paths)
        persist()
    }
}
