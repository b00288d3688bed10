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
            "\(path) is not where it was: moved, removed or unmounted. Nothing was deleted on other devices. Put it back, or start "
                + "foldersync with its new place."
        case .cannotPersist(let why):
            "The state of the last sync cannot be written (\(why)), so foldersync stops. Nothing is lost. Make room, or check who may "
                + "write to .foldersync in the folder. Then start it again."
        case .cannotWatch(let why):
            "The folder cannot be watched: \(why). Use --once to sync it without watching."
        case .system(let code, let name):
            "\(name): \(String(cString: strerror(code)))"
        case .alreadyRunning:
            "Another foldersync already keeps this folder in sync. End that one first, or let it go on."
        case .otherZone(let name):
            "This folder is in sync with the zone \(name). To sync it with another zone, remove its .foldersync first."
        case .directoryInTheWay(let path):
            "\(path) is a file on other devices and a directory here. The directory stays. Rename it to get the file."
        case .linkedDirectory:
            "in a linked directory, so it is skipped. Put the file itself into the folder to sync it"
        case .accountChanged:
            "The account has changed. All files stay as they are. Start foldersync again to sync them with the new account."
        case .zoneDeleted(let name):
            "The zone \(name) was deleted on the server. All files stay as they are. Start foldersync again to upload them again."
        case .notSettled:
            "Other devices keep changing the same files. Run foldersync again."
        case .incomplete(let count):
            "\(count) files are not in sync. Correct the reasons above, and run foldersync again."
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
