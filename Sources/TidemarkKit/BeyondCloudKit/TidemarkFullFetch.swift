// SPDX-License-Identifier: Apache-2.0

/// A fetch of all records of a zone that the app has fetched before, because its change token had expired. CloudKit has
/// nothing of this: there the app is given all records again, and cannot know which are gone.
public struct TidemarkFullFetch: Sendable, CustomStringConvertible {
    /// Why a change token expired.
    public enum Reason: Sendable, Equatable, CustomStringConvertible {
        /// The server was restored from a backup, or is another one: **what is fetched is not news**. It may be older than what
        /// the app has (``CKRecord/versionOrder(relativeTo:)``), and what is absent was not deleted by anybody: save it again.
        /// Deletions that the backup has are not told: the app may have something that was made again since.
        case anotherLife
        /// The server has forgotten deletions that the app had not heard of: what is absent was deleted.
        case deletionsForgotten

        /// For logs.
        public var description: String {
            switch self {
            case .anotherLife: "anotherLife"
            case .deletionsForgotten: "deletionsForgotten"
            }
        }

        /// Of tokens that cannot be read nothing is known, and nobody must take their records for deleted. Nor those of a server
        /// that was restored while nobody said so to it: at the end of the feed its number shows it.
        init(expired: CKServerChangeToken, new: CKServerChangeToken, isEnd: Bool) {
            // A zone whose own token was not stored yet is held against the feed's.
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
    /// Why all was fetched.
    public let reason: Reason
    /// What was fetched, and what was not deleted although it was not fetched.
    let names: FetchedNames

    /// Those of `recordIDs` that are not on the server, in their order.
    ///
    /// Records of other zones are left out. So are those that are pending to be saved, if deletions were forgotten: their saves
    /// will tell. In another life of the store they are not left out: save them as new records, as all others. Give it the
    /// records that the app once fetched or saved, that is which have a change tag: one that the app has made and never sent is
    /// not on the server either.
    public func recordIDsNotFetched(among recordIDs: some Sequence<CKRecord.ID>) -> [CKRecord.ID] {
        recordIDs.filter { $0.zoneID == zoneID && !names.contains($0.recordName) }
    }

    /// For logs.
    public var description: String { "TidemarkFullFetch(\(zoneID.shortDescription), \(reason))" }
}
