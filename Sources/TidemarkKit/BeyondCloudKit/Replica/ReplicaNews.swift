// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// Tells other devices' changes from those that this device made without hearing the answer.
struct ReplicaNews {
    typealias Space = WritableKeyPath<RecordContents, RecordContents.KeySpace>

    private static var spaces: [Space] { [\.plain, \.encrypted] }

    private let known: RecordContents
    private let sent: [RecordContents]

    /// - Parameters:
    ///   - known: the server's last known version.
    ///   - sent: what the device has sent since.
    init(known: CKRecord?, sent: [CKRecord]) {
        self.known = known?.unpacked { $0 } ?? RecordContents()
        self.sent = sent.map { $0.unpacked { $0 } }
    }

    /// Whether the server's record has any value that this device neither knew nor sent.
    func isIn(_ record: CKRecord) -> Bool {
        let (state, zoneID) = (record.unpacked { $0 }, record.recordID.zoneID)
        return Self.spaces.contains { space in
            let keys = Set(state[keyPath: space].values.keys).union(known[keyPath: space].values.keys)
            return keys.contains { key in
                let value = state[keyPath: space].values[key]
                return !FieldObjects.areStoredAlike(value, known[keyPath: space].values[key], zoneID)
                    && !wasSent(value, key, space, zoneID)
            }
        }
    }

    /// The ancestor for a merge. If the server has what this device sent, later edits were made in that.
    ///
    /// That holds only for fields that the user has edited since. Otherwise somebody may have changed what the device
    /// sent, and changed it back.
    func ancestor(server: CKRecord, client: CKRecord) -> CKRecord {
        let (theirs, ours) = (server.unpacked { $0 }, client.unpacked { $0 })
        let (id, zoneID) = (server.recordID, server.recordID.zoneID)
        var ancestor = known
        for space in Self.spaces {
            for (key, value) in theirs[keyPath: space].values
            where !FieldObjects.areStoredAlike(
                ours[keyPath: space].values[key], known[keyPath: space].values[key], zoneID)
                && wasSent(value, key, space, zoneID)
            {
                ancestor[keyPath: space].values[key] = value
            }
        }
        return CKRecord(recordType: server.recordType, recordID: id, state: ancestor)
    }

    private func wasSent(_ value: NSObject?, _ key: CKRecord.FieldKey, _ space: Space, _ zoneID: CKRecordZone.ID)
        -> Bool
    {
        sent.contains { state in
            guard state[keyPath: space].changes[key] != nil else { return false }
            return FieldObjects.areStoredAlike(value, state[keyPath: space].values[key], zoneID)
        }
    }
}

extension TidemarkMerge {
    /// - Parameter sent: what this device has sent since the ancestor, and may have been saved without an answer.
    func merge(ancestor: CKRecord?, server: CKRecord, client: CKRecord, sent: [CKRecord]) -> CKRecord {
        guard !sent.isEmpty else { return merge(ancestor: ancestor, server: server, client: client) }
        let news = ReplicaNews(known: ancestor, sent: sent)
        return merge(ancestor: news.ancestor(server: server, client: client), server: server, client: client)
    }
}
