// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc

/// Why the program ends, or why a file is skipped, in words for the person who started it.
enum FolderSyncError: Error, Equatable, LocalizedError, CustomStringConvertible {
    case unreadable(String)
    case moved(String)
    case cannotPersist(String)
    case cannotWatch(String)
    case system(Int32, String)
    case alreadyRunning
    case otherZone(String)
    case directoryInTheWay(RelativePath)
    case linkedDirectory
    case accountChanged
    case zoneDeleted(String)
    case notSettled
    case incomplete(Int)
    case other(String)

    var description: String {
        switch self {
        case .unreadable(let path):
            "\(path) cannot be read. Check that it is there, and who may read it."
        case .moved(let path):
            "\(path) is not where it was: moved, removed or unmounted. Elsewhere nothing was deleted; put it back, or start with its "
                + "new place."
        case .cannotPersist(let why):
            "What is known of the last sync cannot be written (\(why)); stopped before anything could be forgotten. Make room, or "
                + "see who may write to .foldersync in the folder."
        case .cannotWatch(let why):
            "The folder cannot be watched: \(why). With --once it can still be synced."
        case .system(let code, let name):
            "\(name): \(String(cString: strerror(code)))"
        case .alreadyRunning:
            "Another foldersync keeps this folder in sync already."
        case .otherZone(let name):
            "This folder is in sync with the zone \(name). To give it to another one, remove its .foldersync first."
        case .directoryInTheWay(let path):
            "Elsewhere \(path) is a file and here it is a directory; the directory stays."
        case .linkedDirectory:
            "in a linked directory; skipped"
        case .accountChanged:
            "The account has changed. All files are kept as they are; start again to sync them with the new account."
        case .zoneDeleted(let name):
            "The zone \(name) was deleted on the server. All files are kept as they are; start again to sync them anew."
        case .notSettled:
            "Other devices keep changing the same files; run it again."
        case .incomplete(let count):
            "\(count) files are not in sync. Run it again when the reasons are gone."
        case .other(let text):
            text
        }
    }

    var errorDescription: String? { description }

    /// Errors of Foundation and CloudKit keep their own texts.
    init(_ error: any Error) {
        self = error as? FolderSyncError ?? .other(error.localizedDescription)
    }
}
