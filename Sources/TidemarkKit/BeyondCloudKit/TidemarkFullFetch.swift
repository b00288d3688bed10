// SPDX-License-Identifier: Apache-2.0

/// A fetch of all records of a zone that the app has fetched before. It happens because the change token had expired or the app
/// called ``CKSyncEngine/resync(_:)``. CloudKit does not report this: the app gets all records again, and cannot know which of its
/// records are gone.
public struct TidemarkFullFetch: Sendable, CustomStringConvertible {
    /// How the app must treat records that a fetch of everything did not bring.
    public enum Reason: Sendable, Equatable, CustomStringConvertible {
        /// The server's store has another incarnation: it was restored from a backup, or it is another store. **What is
        /// fetched is not news**. It may be older than what the app has (``CKRecord/versionOrder(relativeTo:)``).
        /// Nobody deleted the records that are absent: save them again. Deletions in the backup are not reported,
        /// because the app may have records that were created again since.
        case anotherLife
        /// The store is the same: the absent records were deleted. The server has forgotten deletions that the app had not fetched, or the
        /// app asked for everything (``TidemarkFullFetch/isResync``).
        case deletionsForgotten

        /// For logs.
        public var description: String {
            switch self {
            case .anotherLife: "anotherLife"
            case .deletionsForgotten: "deletionsForgotten"
            }
        }

        /// Nothing is known of tokens that cannot be read, so their records must not be taken for deleted. The same
        /// holds for a server that was restored without being told: its number at the end of the feed shows it.
        init(expired: CKServerChangeToken, new: CKServerChangeToken, isEnd: Bool) {
            // If a zone's own token was not stored yet, the feed's token takes its place.
            guard let before = FeedPlace(expired), let now = FeedPlace(new), before.isOfZone == now.isOfZone else {
                self = .anotherLife
                return
            }
            let hasGoneOn = isEnd ? now.goesOn(from: before) : now.life == before.life
            self = hasGoneOn ? .deletionsForgotten : .anotherLife
        }
    }

    /// The zone.
    public let zoneID: CKRecordZone.ID
    /// Why everything was fetched.
    public let reason: Reason
    /// Whether the app asked for it. The reason still says whether the store is the same.
    public internal(set) var isResync = false
    /// The records that were fetched, and those that were not deleted although they were not fetched.
    let names: FetchedNames

    /// The `recordIDs` that are not on the server, in their order.
    ///
    /// Records of other zones are left out. If deletions were forgotten, records with a pending save are left out too:
    /// their saves will tell. In another incarnation of the store they are not left out: save them as new records, like
    /// all others.
    ///
    /// Pass records that the app once fetched or saved, so those with a change tag. A record that the app has made and
    /// never sent is not on the server either.
    public func recordIDsNotFetched(among recordIDs: some Sequence<CKRecord.ID>) -> [CKRecord.ID] {
        recordIDs.filter { $0.zoneID == zoneID && !names.contains($0.recordName) }
    }

    /// For logs.
    public var description: String { "TidemarkFullFetch(\(zoneID.shortDescription), \(reason))" }
}
