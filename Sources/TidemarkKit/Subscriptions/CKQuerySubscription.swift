// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// Asks for pushes about records of a private or public database that meet a condition.
///
/// The condition is one that a ``CKQuery`` may have. The word `now` in it means the time at which the subscription is saved.
public class CKQuerySubscription: CKSubscription, @unchecked Sendable {
    /// The changes that fire the subscription.
    public struct Options: OptionSet, Sendable {
        /// The bits, as in the original.
        public let rawValue: UInt

        /// From bits.
        public init(rawValue: UInt) {
            self.rawValue = rawValue
        }

        /// A record that meets the condition was created.
        public static let firesOnRecordCreation = Options(rawValue: 1)
        /// A record that meets the condition was changed.
        public static let firesOnRecordUpdate = Options(rawValue: 2)
        /// A record that met the condition was deleted.
        public static let firesOnRecordDeletion = Options(rawValue: 4)
        /// The subscription ends with its first push.
        public static let firesOnce = Options(rawValue: 8)

        static let changes: Options = [.firesOnRecordCreation, .firesOnRecordUpdate, .firesOnRecordDeletion]
    }

    /// The condition.
    public let predicate: NSPredicate
    /// The changes that fire the subscription.
    public let querySubscriptionOptions: Options

    private let zone: Locked<CKRecordZone.ID?>

    /// A subscription to records of a type that meet a condition. Stops the process if `querySubscriptionOptions` names
    /// no change.
    public convenience init(
        recordType: CKRecord.RecordType, predicate: NSPredicate, subscriptionID: CKSubscription.ID,
        options querySubscriptionOptions: CKQuerySubscription.Options = [
            .firesOnRecordCreation, .firesOnRecordUpdate, .firesOnRecordDeletion,
        ]
    ) {
        precondition(
            !querySubscriptionOptions.isDisjoint(with: .changes),
            "A query subscription needs one of the options for creation, update and deletion.")
        self.init(
            subscriptionID, predicate, querySubscriptionOptions, nil, Settings(recordType: recordType))
    }

    /// The same with a new name at each start of the app.
    @available(*, deprecated, message: "Use init(recordType:predicate:subscriptionID:options:)")
    public convenience init(
        recordType: CKRecord.RecordType, predicate: NSPredicate,
        options querySubscriptionOptions: CKQuerySubscription.Options = [
            .firesOnRecordCreation, .firesOnRecordUpdate, .firesOnRecordDeletion,
        ]
    ) {
        self.init(
            recordType: recordType, predicate: predicate, subscriptionID: UUID().uuidString,
            options: querySubscriptionOptions)
    }

    init(
        _ subscriptionID: CKSubscription.ID, _ predicate: NSPredicate, _ options: Options, _ zoneID: CKRecordZone.ID?,
        _ settings: Settings
    ) {
        self.predicate = predicate
        querySubscriptionOptions = options
        zone = Locked(zoneID)
        super.init(subscriptionID, .query, settings)
    }

    /// The type of the records.
    public var recordType: CKRecord.RecordType? { settings.withLock { $0.recordType } }

    /// Only records of this zone; nil for all of the database.
    public var zoneID: CKRecordZone.ID? {
        get { zone.withLock { $0 } }
        set { zone.withLock { $0 = newValue } }
    }

    // MARK: NSSecureCoding, NSCopying

    /// A subscription from an archive. If the archive has no query, the subscription never fires.
    public required init(coder aDecoder: NSCoder) {
        predicate =
            aDecoder.optionalObject(of: CKQuery.self, forKey: "SubscriptionQuery")?.predicate
            ?? NSPredicate(value: false)
        querySubscriptionOptions = Options(
            rawValue: UInt(clamping: aDecoder.optionalInt64(forKey: "QueryOptions") ?? 0))
        zone = Locked(aDecoder.optionalObject(of: CKRecordZone.ID.self, forKey: "ZoneID"))
        super.init(coder: aDecoder)
    }

    /// Writes everything; the word `now` in the predicate becomes the current time.
    public override func encode(with coder: NSCoder) {
        super.encode(with: coder)
        coder.encode(CKQuery(recordType: recordType ?? "", predicate: predicate), forKey: "SubscriptionQuery")
        coder.encode(Int64(clamping: querySubscriptionOptions.rawValue), forKey: "QueryOptions")
        if let zoneID { coder.encode(zoneID, forKey: "ZoneID") }
    }

    /// An independent subscription with the same settings.
    public override func copy(with zone: NSZone? = nil) -> Any {
        CKQuerySubscription(subscriptionID, predicate, querySubscriptionOptions, zoneID, copiedSettings)
    }
}
