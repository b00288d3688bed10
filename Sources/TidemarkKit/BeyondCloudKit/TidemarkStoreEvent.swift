// SPDX-License-Identifier: Apache-2.0

/// An engine's reports on the server's store.
public enum TidemarkStoreEvent: Sendable, CustomStringConvertible {
    /// All records of a zone follow, although the app has fetched it before. Comes after the zone's
    /// `willFetchRecordZoneChanges` and before the first record.
    case willFetchFromNothing(zoneID: CKRecordZone.ID, reason: TidemarkFullFetch.Reason)
    /// All records of the zone have arrived. The value tells which of the app's records were not among them. The event
    /// comes before the zone's `didFetchRecordZoneChanges`, which has the value too. If the process ends before the
    /// following state is stored, the zone is fetched once more, and this comes again.
    case didFetchFromNothing(TidemarkFullFetch)
    /// The list of all zones has arrived, although the app had it before. The value tells which of the app's zones are
    /// not on the server. With `deletionsForgotten`, a `fetchedDatabaseChanges` follows. It reports those that the
    /// engine knows as deleted. With `anotherLife` it does so for zones of other users.
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
