// SPDX-License-Identifier: Apache-2.0

public import Foundation

extension CKFetchRecordZoneChangesOperation {
    /// The token at which a fetch of a zone begins, and the fields that it fetches.
    public typealias ZoneConfiguration = CKFetchRecordZoneChangesConfiguration

    /// The older name of `ZoneConfiguration`.
    @available(*, deprecated, renamed: "ZoneConfiguration")
    public typealias ZoneOptions = CKFetchRecordZoneChangesConfiguration

    /// The older name of `configurationsByRecordZoneID`.
    @available(*, deprecated, renamed: "configurationsByRecordZoneID")
    public final var optionsByRecordZoneID: [CKRecordZone.ID: ZoneConfiguration]? {
        get { configurationsByRecordZoneID }
        set { configurationsByRecordZoneID = newValue }
    }

    /// With zones to fetch: the older form of `init(recordZoneIDs:configurationsByRecordZoneID:)`.
    @available(*, deprecated, renamed: "init(recordZoneIDs:configurationsByRecordZoneID:)")
    public convenience init(
        recordZoneIDs: [CKRecordZone.ID], optionsByRecordZoneID: [CKRecordZone.ID: ZoneConfiguration]?
    ) {
        self.init(recordZoneIDs: recordZoneIDs, configurationsByRecordZoneID: optionsByRecordZoneID)
    }
}

// NB: Not nested, because the archivers of swift-corelibs-foundation cannot name nested classes.
/// The token at which a fetch of a zone begins, and the fields that it fetches:
/// `CKFetchRecordZoneChangesOperation.ZoneConfiguration`.
public class CKFetchRecordZoneChangesConfiguration: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    private struct Settings {
        var token: CKServerChangeToken?
        var resultsLimit = 0
        var desiredKeys: [CKRecord.FieldKey]?
    }

    private let settings: Locked<Settings>

    /// Everything, from the first change on.
    public override init() {
        settings = Locked(Settings())
        super.init()
    }

    private init(_ settings: Settings) {
        self.settings = Locked(settings)
        super.init()
    }

    /// Changes after the last fetch.
    public convenience init(
        previousServerChangeToken: CKServerChangeToken? = nil, resultsLimit: Int? = nil,
        desiredKeys: [CKRecord.FieldKey]? = nil
    ) {
        self.init(
            Settings(token: previousServerChangeToken, resultsLimit: resultsLimit ?? 0, desiredKeys: desiredKeys))
    }

    /// The token at the end of the zone's last fetch; nil to begin with the first change.
    public var previousServerChangeToken: CKServerChangeToken? {
        get { settings.withLock { $0.token } }
        set { settings.withLock { $0.token = newValue } }
    }

    /// The most records of a page; 0 leaves it to the server.
    public var resultsLimit: Int {
        get { settings.withLock { $0.resultsLimit } }
        set { settings.withLock { $0.resultsLimit = newValue } }
    }

    /// Nil for all keys; an empty list for system fields alone.
    public var desiredKeys: [CKRecord.FieldKey]? {
        get { settings.withLock { $0.desiredKeys } }
        set { settings.withLock { $0.desiredKeys = newValue } }
    }

    // MARK: NSSecureCoding, NSCopying

    /// The name of the class in archives, which never changes.
    public override var classForKeyedArchiver: AnyClass? { _CKZoneChangesConfiguration.self }

    /// The class for objects of that name in archives.
    public override class func classForKeyedUnarchiver() -> AnyClass { CKFetchRecordZoneChangesConfiguration.self }

    /// True.
    public class var supportsSecureCoding: Bool { true }

    /// A configuration from an archive.
    public required init?(coder: NSCoder) {
        var settings = Settings()
        settings.token = coder.optionalObject(of: CKServerChangeToken.self, forKey: "PreviousServerChangeToken")
        settings.resultsLimit = Int(coder.optionalInt64(forKey: "ResultsLimit") ?? 0)
        settings.desiredKeys = coder.optionalStrings(forKey: "DesiredKeys")
        self.settings = Locked(settings)
        super.init()
    }

    /// Writes everything.
    public func encode(with coder: NSCoder) {
        if let previousServerChangeToken {
            coder.encode(previousServerChangeToken, forKey: "PreviousServerChangeToken")
        }
        coder.encode(Int64(resultsLimit), forKey: "ResultsLimit")
        coder.encode(strings: desiredKeys, forKey: "DesiredKeys")
    }

    /// An independent configuration with the same settings.
    public func copy(with zone: NSZone? = nil) -> Any { copied }

    var copied: CKFetchRecordZoneChangesConfiguration {
        CKFetchRecordZoneChangesConfiguration(settings.withLock { $0 })
    }
}
