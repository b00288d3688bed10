// SPDX-License-Identifier: Apache-2.0

/// The list of all zones of a database, read from its beginning because its change token had expired.
public struct TidemarkZoneList: Sendable, CustomStringConvertible {
    /// Why the list was read from its beginning.
    public let reason: TidemarkFullFetch.Reason
    /// Zones that the engine has fetched or sent to, and that are not on the server.
    let absent: [CKRecordZone.ID]
    /// Zones that are on the server, and those whose end a `fetchedDatabaseChanges` reports.
    let accounted: Set<CKRecordZone.ID>

    /// The zones of `zoneIDs` that are not on the server, in the given order, without the default zone.
    ///
    /// With `anotherLife` nobody deleted them: save them and their records again. With `deletionsForgotten` they were
    /// deleted. Zones that the engine knows, and that were purged or lost their keys before the backup, are not among
    /// them. Nor are zones of other users that it knows, because this user cannot save them again. A
    /// `fetchedDatabaseChanges` that reports those follows. If you pass another user's zone that only the app knows, and
    /// get it back, it has ended too.
    ///
    /// Pass the zones of all records that the app ever fetched or saved. The engine's state may lack some of them. It
    /// is stored after the app has learned the result of a save, and the process may have ended in between.
    public func zoneIDsNotFetched(among zoneIDs: some Sequence<CKRecordZone.ID>) -> [CKRecordZone.ID] {
        zoneIDs.filter { !accounted.contains($0) && $0.zoneName != CKRecordZone.ID.defaultZoneName }
    }

    /// For logs.
    public var description: String { "TidemarkZoneList(\(reason), absent: \(absent.shortDescription))" }
}
