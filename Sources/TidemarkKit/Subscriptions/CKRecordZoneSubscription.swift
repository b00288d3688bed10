// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// Asks for pushes about any change in one custom zone of a private database.
public class CKRecordZoneSubscription: CKSubscription, @unchecked Sendable {
    /// The zone.
    public let zoneID: CKRecordZone.ID

    /// A subscription with that name.
    public convenience init(zoneID: CKRecordZone.ID, subscriptionID: CKSubscription.ID) {
        self.init(zoneID, subscriptionID)
    }

    /// A subscription with a new name at each start of the app.
    @available(*, deprecated, message: "Use init(zoneID:subscriptionID:)")
    public convenience init(zoneID: CKRecordZone.ID) {
        self.init(zoneID: zoneID, subscriptionID: UUID().uuidString)
    }

    private init(_ zoneID: CKRecordZone.ID, _ subscriptionID: CKSubscription.ID, _ settings: Settings = Settings()) {
        self.zoneID = zoneID
        super.init(subscriptionID, .recordZone, settings)
    }

    /// Only changes of records of this type; nil for all. A push too many may come, as after each connection.
    public var recordType: CKRecord.RecordType? {
        get { settings.withLock { $0.recordType } }
        set { settings.withLock { $0.recordType = newValue } }
    }

    // MARK: NSSecureCoding, NSCopying

    /// A subscription from an archive.
    public required init(coder aDecoder: NSCoder) {
        zoneID = aDecoder.optionalObject(of: CKRecordZone.ID.self, forKey: "ZoneID") ?? .default
        super.init(coder: aDecoder)
    }

    /// Writes all of it.
    public override func encode(with coder: NSCoder) {
        super.encode(with: coder)
        coder.encode(zoneID, forKey: "ZoneID")
    }

    /// An independent subscription with the same settings.
    public override func copy(with zone: NSZone? = nil) -> Any {
        CKRecordZoneSubscription(zoneID, subscriptionID, copiedSettings)
    }
}
