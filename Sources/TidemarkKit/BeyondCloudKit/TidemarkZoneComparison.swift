// SPDX-License-Identifier: Apache-2.0

/// What ``CKSyncEngine/verify(_:)`` has found. CloudKit has no such type.
public struct TidemarkZoneComparison: Sendable, Equatable, CustomStringConvertible {
    /// The zone.
    public let zoneID: CKRecordZone.ID
    /// How many records the server has.
    public let serverRecordCount: Int
    /// Records that the server has and the app has not.
    public internal(set) var missingHere: [CKRecord.ID] = []
    /// Records that the app has, with a change tag, and the server has not.
    public internal(set) var missingThere: [CKRecord.ID] = []
    /// Records of which both have another version.
    public internal(set) var different: [CKRecord.ID] = []
    /// Records that differ in one of these ways, and of which a change has still to be sent. They are expected to.
    public internal(set) var pending: [CKRecord.ID] = []

    /// Whether nothing differs but what is pending.
    public var isEqual: Bool { missingHere.isEmpty && missingThere.isEmpty && different.isEmpty }

    /// For logs: no names.
    public var description: String {
        """
        TidemarkZoneComparison(there: \(serverRecordCount), missing here: \(missingHere.count), \
        missing there: \(missingThere.count), different: \(different.count), pending: \(pending.count))
        """
    }
}
