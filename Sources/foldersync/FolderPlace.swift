// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CloudKit

/// The zone that holds a folder, and whose it is.
struct FolderPlace: Equatable, Sendable {
    let zoneName: String
    /// The record name of the user who shares the folder; nil: it is one's own.
    let owner: String?

    /// Whether somebody else shares the folder with this account.
    var isShared: Bool { owner != nil }

    var zoneID: CKRecordZone.ID { CKRecordZone.ID(zoneName: zoneName, ownerName: owner ?? CKCurrentUserDefaultName) }

    /// The database in which this account sees the zone.
    func database(of container: CKContainer) -> CKDatabase {
        isShared ? container.sharedCloudDatabase : container.privateCloudDatabase
    }

    /// The place of a folder: that of its last sync, or one's own zone of that name.
    ///
    /// - Parameter zoneName: nil: only that of the last sync.
    static func find(_ folder: String, zoneName: String?) throws -> FolderPlace {
        let known = try Journal.place(ofFolder: folder)
        guard let zoneName else {
            guard let known else { throw FolderSyncError.zoneUnknown(folder) }
            return known
        }
        guard let known else { return FolderPlace(zoneName: zoneName, owner: nil) }
        guard known.zoneName == zoneName else { throw FolderSyncError.otherZone(known.zoneName) }
        return known
    }

    /// - Throws: `ValidationError` for a name that no zone can have.
    static func check(_ zoneName: String?) throws {
        guard let zoneName else { return }
        guard (1...255).contains(zoneName.utf8.count), zoneName.utf8.allSatisfy({ (0x20...0x7E).contains($0) }),
            zoneName.first != "_"
        else {
            throw ValidationError(
                "A zone's name has 1 to 255 printable ASCII characters. The first is not an underscore.")
        }
    }
}
