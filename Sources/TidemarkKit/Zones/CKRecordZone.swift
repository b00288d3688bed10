// SPDX-License-Identifier: Apache-2.0

public import Foundation
internal import Synchronization

/// A part of a database whose records are fetched and changed together.
///
/// Two zones are equal if their IDs are.
public class CKRecordZone: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    /// Whether keys encrypt single records or the whole zone.
    public enum EncryptionScope: Int, Sendable {
        /// Each record separately.
        case perRecord = 0
        /// The whole zone.
        case perZone = 1
    }

    /// The zone's name and owner.
    public let zoneID: CKRecordZone.ID

    /// The operations that are possible in the zone. Empty until a server has said it.
    public let capabilities: Capabilities

    /// The zone-wide share, on fetched zones that have one.
    public let share: CKRecord.Reference?

    private struct Encryption {
        var scope: EncryptionScope
        /// Whether the app set it, even to the same value.
        var isChosen = false
    }

    private let encryption: Mutex<Encryption>

    /// A new zone of the current user. It exists once it is saved.
    public convenience init(zoneName: String) {
        self.init(zoneID: CKRecordZone.ID(zoneName: zoneName))
    }

    /// A zone with that ID.
    public convenience init(zoneID: CKRecordZone.ID) {
        self.init(zoneID: zoneID, capabilities: [])
    }

    /// A zone from a server.
    package init(
        zoneID: CKRecordZone.ID, capabilities: Capabilities, share: CKRecord.Reference? = nil,
        encryptionScope: EncryptionScope = .perRecord
    ) {
        self.zoneID = zoneID
        self.capabilities = capabilities
        self.share = share
        encryption = Mutex(Encryption(scope: encryptionScope))
        super.init()
    }

    /// The zone that each private and public database has from the beginning.
    public class func `default`() -> CKRecordZone {
        CKRecordZone(zoneID: .default)
    }

    /// Choose it before the zone is first saved. Saving an existing zone with another scope fails with
    /// `serverRejectedRequest`. If none was chosen, an existing zone stays as it is.
    public var encryptionScope: EncryptionScope {
        get { encryption.withLock { $0.scope } }
        set { encryption.withLock { $0 = Encryption(scope: newValue, isChosen: true) } }
    }

    /// Nil if the app chose none, and the server reported only the usual one.
    package var chosenEncryptionScope: EncryptionScope? {
        encryption.withLock { $0.isChosen || $0.scope != .perRecord ? $0.scope : nil }
    }

    // MARK: NSSecureCoding, NSCopying

    /// True.
    public class var supportsSecureCoding: Bool { true }

    /// Nil when the archive does not hold a zone.
    public required init?(coder: NSCoder) {
        guard let zoneID = coder.optionalObject(of: CKRecordZone.ID.self, forKey: "ZoneID") else { return nil }
        self.zoneID = zoneID
        capabilities = Capabilities(
            rawValue: UInt(truncatingIfNeeded: coder.optionalInt64(forKey: "Capabilities") ?? 0))
        share = coder.optionalObject(of: CKRecord.Reference.self, forKey: "Share")
        let code = coder.optionalInt64(forKey: "EncryptionScope").flatMap { Int(exactly: $0) }
        encryption = Mutex(Encryption(scope: code.flatMap(EncryptionScope.init(rawValue:)) ?? .perRecord))
        super.init()
    }

    /// Writes everything known of the zone.
    public func encode(with coder: NSCoder) {
        coder.encode(zoneID, forKey: "ZoneID")
        coder.encode(Int64(capabilities.rawValue), forKey: "Capabilities")
        coder.encode(Int64(encryptionScope.rawValue), forKey: "EncryptionScope")
        if let share { coder.encode(share, forKey: "Share") }
    }

    /// An independent zone with the same ID.
    public func copy(with zone: NSZone? = nil) -> Any { copied }

    var copied: CKRecordZone {
        let copy = CKRecordZone(
            zoneID: zoneID, capabilities: capabilities, share: share, encryptionScope: encryptionScope)
        if let chosenEncryptionScope { copy.encryptionScope = chosenEncryptionScope }
        return copy
    }

    // MARK: NSObject

    /// Whether both have the same ID.
    public override func isEqual(_ object: Any?) -> Bool {
        (object as? CKRecordZone)?.zoneID == zoneID
    }

    /// Equal for equal IDs.
    public override var hash: Int { zoneID.hash }

    /// For people to read.
    public override var description: String {
        "<CKRecordZone zoneID=\(zoneID) capabilities=\(capabilities.rawValue)>"
    }
}

extension CKRecordZone {
    /// The operations that are possible in a zone.
    public struct Capabilities: OptionSet, Sendable {
        /// The bits.
        public let rawValue: UInt

        /// From the bits.
        public init(rawValue: UInt) {
            self.rawValue = rawValue
        }

        /// Changes since a token can be fetched.
        public static let fetchChanges = Capabilities(rawValue: 1)
        /// Batches can succeed or fail as a whole.
        public static let atomic = Capabilities(rawValue: 2)
        /// Hierarchies of records can be shared.
        public static let sharing = Capabilities(rawValue: 4)
        /// The whole zone can be shared.
        public static let zoneWideSharing = Capabilities(rawValue: 8)
    }
}
