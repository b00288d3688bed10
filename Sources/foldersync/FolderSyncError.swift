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
    case placeDamaged(String)
    case directoryInTheWay(RelativePath)
    case linkedDirectory
    case accountChanged
    case zoneDeleted(String)
    case zoneUnknown(String)
    case notShared(String)
    case allMissing(String)
    case notSharedYet
    case notOwner(String)
    case ownFolder(String)
    case linkInvalid(String)
    case memberUnknown(String)
    case memberAmbiguous(String)
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
        case .placeDamaged(let path):
            "The first line of \(path) is damaged, so it is not known with which zone this folder is in sync. Nothing was changed. Put "
                + "the file back from a backup. Or move .foldersync away and start as the first time; then files that were deleted "
                + "elsewhere may come back."
        case .directoryInTheWay(let path):
            "\(path) is a file on other devices and a directory here. The directory stays. Rename it to get the file."
        case .linkedDirectory:
            "in a linked directory, so it is skipped. Put the file itself into the folder to sync it"
        case .accountChanged:
            "The account has changed. All files stay as they are. Start foldersync again to sync them with the new account."
        case .zoneDeleted(let name):
            "The zone \(name) was deleted on the server. All files stay as they are. Start foldersync again to upload them again."
        case .zoneUnknown(let folder):
            "\(folder) was never in sync. Name its zone: --zone ZONE. Or join a shared folder: foldersync accept LINK \(folder)"
        case .notShared(let name):
            "The folder \(name) is not shared with this account: its owner has ended that, or this account has left. All files stay "
                + "as they are. To join again: foldersync accept LINK FOLDER"
        case .allMissing(let name):
            "All files of the shared folder \(name) are missing here, so foldersync stops. Nothing was deleted for the others. To get "
                + "the files again: foldersync FOLDER --missing fetch. To delete them for everybody: foldersync FOLDER --missing delete"
        case .notSharedYet:
            "The folder is not shared with anybody. Share it: foldersync share FOLDER --with NAME, or --public read."
        case .notOwner(let name):
            "Only the owner of the folder \(name) ends the sharing. To leave it: foldersync leave FOLDER"
        case .ownFolder(let name):
            "The folder \(name) is this account's own, so there is nothing to accept or to leave. To keep it in sync: foldersync FOLDER "
                + "--zone \(name). To end the sharing: foldersync share FOLDER --stop"
        case .linkInvalid(let link):
            "\(link) is not a link to a folder. Take the whole line that foldersync share printed."
        case .memberUnknown(let name):
            "Nobody named \(name) takes part. See: foldersync members FOLDER"
        case .memberAmbiguous(let name):
            "Several people are named \(name). Give the ID that foldersync members FOLDER shows."
        case .notSettled:
            "Other devices keep changing the same files. Run foldersync again."
        case .incomplete(let count):
            "\(count) files are not in sync. Correct the reasons above, and run foldersync again."
        case .other(let text):
            text
        }
    }

    var errorDescription: String? { description }

    /// Runs `work`; what it throws becomes words for the person who started it.
    static func told(_ work: () async throws -> Void) async throws {
        do {
            try await work()
        } catch {
            throw FolderSyncError(error)
        }
    }

    /// Errors of Foundation and CloudKit keep their own texts.
    init(_ error: any Error) {
        self = error as? FolderSyncError ?? .other(error.localizedDescription)
    }
}
