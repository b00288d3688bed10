// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// Asks for pushes about any change in the custom zones of a private or shared database.
public class CKDatabaseSubscription: CKSubscription, @unchecked Sendable {
    /// A subscription with that name.
    public convenience init(subscriptionID: CKSubscription.ID) {
        self.init(subscriptionID, .database)
    }

    /// A subscription with a new name at each start of the app.
    @available(*, deprecated, message: "Use init(subscriptionID:)")
    public convenience init() {
        self.init(subscriptionID: UUID().uuidString)
    }

    override init(_ subscriptionID: CKSubscription.ID, _ type: SubscriptionType, _ settings: Settings = Settings()) {
        super.init(subscriptionID, type, settings)
    }

    /// A subscription from an archive.
    public required init(coder aDecoder: NSCoder) {
        super.init(coder: aDecoder)
    }

    /// Only changes of records of this type; nil for all. A push too many may come, as after each connection.
    public var recordType: CKRecord.RecordType? {
        get { settings.withLock { $0.recordType } }
        set { settings.withLock { $0.recordType = newValue } }
    }

    /// An independent subscription with the same settings.
    public override func copy(with zone: NSZone? = nil) -> Any {
        CKDatabaseSubscription(subscriptionID, .database, copiedSettings)
    }
}
