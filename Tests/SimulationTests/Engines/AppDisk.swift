// SPDX-License-Identifier: Apache-2.0

import TidemarkKit

/// What a simulated app has stored: it outlives the process. Each callback changes it at once, as in one transaction.
struct AppDisk {
    /// A record as the user sees it: a set of edits, which merge by union, so that whatever conflicts come, none may be
    /// missing in the end.
    struct Note {
        /// As the server last gave it.
        var base: CKRecord?
        var edits: Set<String> = []
        /// Whether it is still to be saved.
        var isDirty = false
    }

    /// An engine's state, and what had been fetched by then.
    struct Bookmark {
        let state: CKSyncEngine.State.Serialization
        let fetched: FetchedView
    }

    var notes: [CKRecord.ID: Note] = [:]
    /// Of the last state update.
    var state: CKSyncEngine.State.Serialization?
    var fetched = FetchedView()
    /// One for each state update.
    var bookmarks: [Bookmark] = []
    /// Records of its own that the user has deleted.
    var deleted: Set<CKRecord.ID> = []
    /// Whether the user has deleted the scratch zone, and the server does not know that yet.
    var isScratchUnwanted = false
    /// Whether `state` has a token of the database feed: only then is it told of zones that end.
    var knowsZones = false

    /// In an order that does not depend on hashing.
    var ids: [CKRecord.ID] { notes.keys.sorted { $0.path < $1.path } }

    /// What the user sees, by "zone/record".
    var contents: [String: Set<String>] {
        Dictionary(uniqueKeysWithValues: notes.map { ($0.key.path, $0.value.edits) })
    }

    mutating func take(_ state: CKSyncEngine.State.Serialization) {
        self.state = state
        bookmarks.append(Bookmark(state: state, fetched: fetched))
    }

    /// - Returns: which notes are gone.
    mutating func forgetZone(_ zoneID: CKRecordZone.ID) -> [CKRecord.ID] {
        let gone = ids.filter { $0.zoneID == zoneID }
        for id in gone { notes[id] = nil }
        return gone
    }
}

/// What the events of fetches alone have told, and of zones that the device itself deleted, by "zone/record".
struct FetchedView: Equatable {
    private(set) var records: [String: Set<String>] = [:]
    /// What has come of each zone that is being fetched from nothing.
    private var fetched: [String: Set<String>] = [:]

    mutating func take(_ event: TidemarkStoreEvent) {
        switch event {
        case .willFetchFromNothing(let zoneID, _): fetched[zoneID.zoneName] = []
        case .didFetchFromNothing(let fetch):
            let prefix = fetch.zoneID.zoneName + "/"
            let found = fetched.removeValue(forKey: fetch.zoneID.zoneName) ?? []
            records = records.filter { !$0.key.hasPrefix(prefix) || found.contains($0.key) }
        case .didFetchZonesFromNothing(let list):
            let known = Set(records.keys.compactMap { $0.split(separator: "/").first.map(String.init) })
            for zoneID in list.zoneIDsNotFetched(among: known.map { CKRecordZone.ID(zoneName: $0) }) { forget(zoneID) }
        }
    }

    private mutating func forget(_ zoneID: CKRecordZone.ID) {
        records = records.filter { !$0.key.hasPrefix(zoneID.zoneName + "/") }
        fetched[zoneID.zoneName] = nil
    }

    mutating func take(_ event: CKSyncEngine.Event) {
        switch event {
        case .fetchedDatabaseChanges(let changes):
            for deletion in changes.deletions { forget(deletion.zoneID) }
        case .fetchedRecordZoneChanges(let changes):
            for modification in changes.modifications {
                let id = modification.record.recordID
                records[id.path] = modification.record.edits
                fetched[id.zoneID.zoneName]?.insert(id.path)
            }
            for deletion in changes.deletions { records[deletion.recordID.path] = nil }
        case .sentDatabaseChanges(let sent):
            // A restored store does not tell of it again.
            for zoneID in sent.deletedZoneIDs { forget(zoneID) }
        default: break
        }
    }
}

extension CKRecord {
    var edits: Set<String> { History.edits(in: self["text"] as? String ?? "") }
}

extension CKRecord.ID {
    var path: String { "\(zoneID.zoneName)/\(recordName)" }
}
