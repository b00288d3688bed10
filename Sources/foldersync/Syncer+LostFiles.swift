// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CloudKit

/// What becomes of the files of a shared folder if all are missing at the start.
enum MissingFiles: String, ExpressibleByArgument, CaseIterable {
    case fetch, delete
}

/// What happens if all files of a folder are missing that somebody else shares. Whoever leaves a folder may delete its files
/// on all their devices, and does not want the others to lose theirs. A device may not have heard of that yet.
extension Syncer {
    /// Looks at the start, before anything is sent.
    func lookForLostFiles() {
        guard place.isShared, missingFiles != .delete, hasLostAllFiles else { return }
        if missingFiles == .fetch {
            journal.zoneEnded()
            persist()
        } else {
            holdsDeletions = true
        }
    }

    /// Ends if files are still to be deleted for everybody, after all changes have been fetched. They are not if the list of
    /// zones said that the folder was left and joined again, or if others have deleted them, too.
    func heedLostFiles() {
        guard holdsDeletions else { return }
        guard journal.paths.contains(where: { wantsDeletion(of: $0) && isMissing($0) }) else {
            holdsDeletions = false
            return
        }
        finish(FolderSyncError.allMissing(zoneID.zoneName))
    }

    private var hasLostAllFiles: Bool {
        let known = journal.paths.filter { journal[$0]?.version != nil }
        return known.contains { wantsDeletion(of: $0) } && known.allSatisfy { isMissing($0) }
    }

    private func wantsDeletion(of path: RelativePath) -> Bool { journal[path]?.differs(from: nil) == true }

    private func isMissing(_ path: RelativePath) -> Bool {
        if case .missing = tree.look(at: path, known: journal[path]?.stat) { true } else { false }
    }
}
