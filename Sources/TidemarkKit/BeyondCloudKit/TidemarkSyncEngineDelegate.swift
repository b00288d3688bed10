// SPDX-License-Identifier: Apache-2.0

/// A delegate that is also told what became of the server's store. CloudKit has nothing of this.
///
/// The engine finds out by itself that its delegate is one. Apps that keep to CloudKit's protocol find the most important
/// part in its events: ``CKSyncEngine/Event/DidFetchRecordZoneChanges/fullFetch``.
public protocol TidemarkSyncEngineDelegate: CKSyncEngineDelegate {
    /// Something became of the store. As all calls of an engine, one after another with the others.
    func handleStoreEvent(_ event: TidemarkStoreEvent, syncEngine: CKSyncEngine) async
}

/// What an engine tells of the server's store.
public enum TidemarkStoreEvent: Sendable, CustomStringConvertible {
    /// All records of a zone follow, although the app has fetched it before. It comes after the zone's
    /// `willFetchRecordZoneChanges` and before the first record.
    case willFetchFromNothing(zoneID: CKRecordZone.ID, reason: TidemarkFullFetch.Reason)
    /// All records of the zone have come; what the app has and was not among them, the value tells. It comes before the zone's
    /// `didFetchRecordZoneChanges`, which has it, too. If the process ends before the state that follows is stored, the zone is
    /// fetched once more, and this comes again.
    case didFetchFromNothing(TidemarkFullFetch)
    /// The list of all zones has come, although the app had it before; which of the app's zones are not on the server, the value
    /// tells. With `deletionsForgotten` a `fetchedDatabaseChanges` follows that tells of those that the engine knows as deleted.
    case didFetchZonesFromNothing(TidemarkZoneList)

    /// For logs.
    public var description: String {
        switch self {
        case .willFetchFromNothing(let zoneID, let reason):
            "WillFetchFromNothing(\(zoneID.shortDescription), \(reason))"
        case .didFetchFromNothing(let fetch):
            "DidFetchFromNothing(\(fetch.zoneID.shortDescription), \(fetch.reason))"
        case .didFetchZonesFromNothing(let list):
            "DidFetchZonesFromNothing(\(list.reason), absent: \(list.absent.shortDescription))"
        }
    }
}
